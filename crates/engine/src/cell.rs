//! Table values, for writers that do not depend on the value types.

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Nothing,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A string.
    Text(&'a str),
    /// Several values.
    List(Vec<Self>),
}

/// A type that a table may contain.
pub trait Value {
    /// The value in a table.
    fn cell(&self) -> Cell<'_>;
}

impl Value for bool {
    fn cell(&self) -> Cell<'_> {
        Cell::Flag(*self)
    }
}

impl Value for u32 {
    fn cell(&self) -> Cell<'_> {
        Cell::Whole(u64::from(*self))
    }
}

impl Value for u64 {
    fn cell(&self) -> Cell<'_> {
        Cell::Whole(*self)
    }
}

impl Value for f64 {
    /// Numbers that are not finite become [`Cell::Nothing`].
    fn cell(&self) -> Cell<'_> {
        if self.is_finite() { Cell::Number(*self) } else { Cell::Nothing }
    }
}

impl Value for String {
    fn cell(&self) -> Cell<'_> {
        Cell::Text(self)
    }
}

impl Value for &'static str {
    fn cell(&self) -> Cell<'_> {
        Cell::Text(self)
    }
}

impl<T: Value> Value for Option<T> {
    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Nothing, T::cell)
    }
}

impl<T: Value> Value for Vec<T> {
    fn cell(&self) -> Cell<'_> {
        Cell::List(self.iter().map(T::cell).collect())
    }
}

/// Declares a table: fields with types and meanings, and `cells`, which lists names and values.
#[macro_export]
macro_rules! table {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$meaning:meta])* pub $field:ident: $type:ty,)+
        }
    ) => {
        $(#[$about])*
        pub struct $name {
            $($(#[$meaning])* pub $field: $type,)+
        }

        impl $name {
            /// The names and values, in order.
            pub fn cells(&self) -> impl Iterator<Item = (&'static str, $crate::cell::Cell<'_>)> {
                [$((stringify!($field), $crate::cell::Value::cell(&self.$field)),)+].into_iter()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::table! {
        /// A table with a field of every type.
        pub struct Every {
            /// A flag.
            pub flag: bool,
            /// Numbers.
            pub numbers: Vec<Option<f64>>,
            /// A string.
            pub text: String,
        }
    }

    #[test]
    fn a_table_lists_its_values_by_name_and_what_is_not_finite_is_none() {
        let every =
            Every { flag: true, numbers: vec![Some(0.5), None, Some(f64::NAN)], text: "x".into() };
        let numbers = vec![Cell::Number(0.5), Cell::Nothing, Cell::Nothing];
        assert_eq!(
            every.cells().collect::<Vec<_>>(),
            [
                ("flag", Cell::Flag(true)),
                ("numbers", Cell::List(numbers)),
                ("text", Cell::Text("x")),
            ]
        );
    }
}
