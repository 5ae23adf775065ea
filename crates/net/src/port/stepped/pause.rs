//! Classes of a port that flow control has stopped.

use incast_engine::Time;

use super::{CONTROL_FRAME, Stepped};
use crate::port::Commons;
use crate::queue::CLASSES;

impl Stepped {
    pub(super) fn is_paused(&self, class: usize) -> bool {
        self.paused & 1 << class.min(CLASSES - 1) != 0
    }

    /// The class of the next packet to send, if there is one.
    pub(super) fn next_class(&self) -> Option<usize> {
        let sends = |class: &usize| !self.classes[*class].is_empty() && !self.is_paused(*class);
        (0..self.classes.len()).find(sends)
    }

    /// Pauses or resumes classes; see [`super::super::Port::pause`].
    pub(in crate::port) fn pause(
        &mut self,
        now: Time,
        classes: u8,
        is_on: bool,
        commons: &mut Commons,
    ) -> bool {
        self.paused = if is_on { self.paused | classes } else { self.paused & !classes };
        let was_idle = self.in_service.is_none();
        if was_idle {
            self.start_next(now, commons);
        }
        was_idle && self.in_service.is_some()
    }

    /// See [`super::super::Port::is_free`].
    pub(in crate::port) fn is_free(&self) -> Option<u8> {
        let is_empty = self.in_service.is_none() && self.waiting.packets == 0;
        is_empty.then_some(self.paused)
    }

    /// See [`super::super::Port::frame_arrives_at`].
    pub(in crate::port) fn frame_arrives_at(&self, now: Time) -> Time {
        let begins = self.in_service.map_or(now, |packet| packet.departs.0);
        begins + self.line.serialisation.time(CONTROL_FRAME) + self.line.delay
    }
}
