//! The interface for a browser. A question is JSON, and its answer is JSON with the numbers of
//! traces in a separate buffer.
//!
//! The caller writes the question to the address that [`incast_question`] returns, calls
//! [`incast_ask`], and reads the answer from the addresses that [`incast_answer`] and
//! [`incast_numbers`] return. The interface has no generated code. The Rust side of the interface
//! has no unsafe access to memory.

#![expect(unsafe_code, reason = "the names of exported functions must be unique in a program")]

mod answer;
mod document;
mod journeys;
mod numbers;
mod question;

use std::cell::RefCell;

pub use answer::answer;
pub use numbers::Numbers;

/// The data that pass through the interface.
#[derive(Default)]
struct Door {
    question: Vec<u8>,
    answer: Vec<u8>,
    numbers: Numbers,
}

thread_local! {
    static DOOR: RefCell<Door> = RefCell::default();
}

/// Allocates memory for a question of `bytes` bytes, and returns the address of this memory.
#[unsafe(no_mangle)]
pub extern "C" fn incast_question(bytes: usize) -> *mut u8 {
    DOOR.with_borrow_mut(|door| {
        door.question.clear();
        door.question.resize(bytes, 0);
        door.question.as_mut_ptr()
    })
}

/// Answers the question, and returns the length of the answer's JSON in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn incast_ask() -> usize {
    DOOR.with_borrow_mut(|door| {
        // The previous answer is freed before the new answer needs memory.
        *door = Door { question: std::mem::take(&mut door.question), ..Door::default() };
        let question = std::mem::take(&mut door.question);
        door.answer = answer(&question, &mut door.numbers).to_string().into_bytes();
        door.answer.len()
    })
}

/// The address of the answer's JSON.
#[unsafe(no_mangle)]
pub extern "C" fn incast_answer() -> *const u8 {
    DOOR.with_borrow(|door| door.answer.as_ptr())
}

/// The address of the answer's numbers: the columns one after another, as 64-bit floats.
#[unsafe(no_mangle)]
pub extern "C" fn incast_numbers() -> *const f64 {
    DOOR.with_borrow(|door| door.numbers.values().as_ptr())
}

#[cfg(test)]
mod tests;
