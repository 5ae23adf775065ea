//! A kind of trace: its name, its recorder, and its table.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;

use incast_engine::Time;
use incast_net::topology::Network;

use super::{Detail, Listener, Setting};
use crate::column::Column;

/// Records one kind of trace from the calls of a run ([`Listener`]).
pub trait TraceKind: Listener + Debug + Send + Sized + 'static {
    /// The name under which the trace is requested.
    const NAME: &'static str;
    /// The name of the trace's table.
    const TABLE: &'static str;
    /// A description of one line.
    const SUMMARY: &'static str;
    /// The data from which a row of the trace's table is read.
    type Row;
    /// The columns of the trace's table.
    const FIELDS: &'static [Field<Self::Row>];

    /// An empty trace.
    fn new(detail: Detail, setting: &Setting) -> Self;

    /// Called when the run is over.
    fn finish(&mut self, now: Time, network: &mut Network) {
        let _ = (now, network);
    }

    /// Takes out the rows that can no longer change, if there are many.
    fn take_final(&mut self, network: &Network) -> Option<Self> {
        let _ = network;
        None
    }

    /// Calls `emit` for each row of the table.
    fn for_each_row(&self, emit: impl FnMut(&Self::Row));
}

/// A column of a table, and the function that reads it from a row.
pub struct Field<R> {
    column: Column,
    read: Read<R>,
}

/// A function that reads a value from a row.
pub enum Read<R> {
    /// A number with a fraction.
    F64(fn(&R) -> f64),
    /// A number that may be negative.
    I64(fn(&R) -> i64),
    /// A small count.
    U32(fn(&R) -> u32),
    /// A count.
    U64(fn(&R) -> u64),
    /// A name.
    Text(fn(&R) -> &str),
}

impl<R> Field<R> {
    /// A column with its unit ("1" for ratios, "" for strings) and meaning.
    pub const fn new(
        name: &'static str,
        unit: &'static str,
        description: &'static str,
        read: Read<R>,
    ) -> Self {
        Self { column: Column { name, unit, description }, read }
    }
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// See [`Read::F64`].
    F64(Vec<f64>),
    /// See [`Read::I64`].
    I64(Vec<i64>),
    /// See [`Read::U32`].
    U32(Vec<u32>),
    /// See [`Read::U64`].
    U64(Vec<u64>),
    /// See [`Read::Text`].
    Text(Names),
}

/// The values of a column of names. Each name is kept once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// The different names, in the order of their first rows.
    pub names: Vec<String>,
    /// For each row, the index of its name.
    pub codes: Vec<u32>,
}

/// The recorded values of one kind of trace, as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name of the table.
    pub name: &'static str,
    /// The names of the columns and their values.
    pub columns: Vec<(&'static str, Values)>,
}

/// A trace of any kind.
pub trait Recorder: Listener + Any + Debug + Send {
    /// Called when the run is over.
    fn finish(&mut self, now: Time, network: &mut Network);
    /// A part of the table, with the rows that can no longer change, if there are many.
    fn spill(&mut self, network: &Network) -> Option<Table>;
    /// The recorded table, or its remaining rows.
    fn table(&self) -> Table;
}

impl<K: TraceKind> Recorder for K {
    fn finish(&mut self, now: Time, network: &mut Network) {
        TraceKind::finish(self, now, network);
    }

    fn spill(&mut self, network: &Network) -> Option<Table> {
        self.take_final(network).map(|part| part.table())
    }

    fn table(&self) -> Table {
        let mut gathered: Vec<_> = K::FIELDS.iter().map(Gathered::of).collect();
        self.for_each_row(|row| {
            for values in &mut gathered {
                values.push(row);
            }
        });
        let names = K::FIELDS.iter().map(|field| field.column.name);
        let values = gathered.into_iter().map(Gathered::into_values);
        Table { name: K::TABLE, columns: names.zip(values).collect() }
    }
}

/// A column that is being read from rows.
enum Gathered<R> {
    F64(fn(&R) -> f64, Vec<f64>),
    I64(fn(&R) -> i64, Vec<i64>),
    U32(fn(&R) -> u32, Vec<u32>),
    U64(fn(&R) -> u64, Vec<u64>),
    Text(fn(&R) -> &str, Names, BTreeMap<String, u32>),
}

impl<R> Gathered<R> {
    fn of(field: &Field<R>) -> Self {
        match field.read {
            Read::F64(read) => Self::F64(read, Vec::new()),
            Read::I64(read) => Self::I64(read, Vec::new()),
            Read::U32(read) => Self::U32(read, Vec::new()),
            Read::U64(read) => Self::U64(read, Vec::new()),
            Read::Text(read) => Self::Text(read, Names::default(), BTreeMap::new()),
        }
    }

    #[inline]
    fn push(&mut self, row: &R) {
        match self {
            Self::F64(read, values) => values.push(read(row)),
            Self::I64(read, values) => values.push(read(row)),
            Self::U32(read, values) => values.push(read(row)),
            Self::U64(read, values) => values.push(read(row)),
            Self::Text(read, names, known) => names.push(read(row), known),
        }
    }

    fn into_values(self) -> Values {
        match self {
            Self::F64(_, values) => Values::F64(values),
            Self::I64(_, values) => Values::I64(values),
            Self::U32(_, values) => Values::U32(values),
            Self::U64(_, values) => Values::U64(values),
            Self::Text(_, names, _) => Values::Text(names),
        }
    }
}

impl Names {
    /// Adds a row. `known` has the indices of the names.
    fn push(&mut self, name: &str, known: &mut BTreeMap<String, u32>) {
        let last = self.codes.last().copied();
        let code = match last.filter(|code| self.names[*code as usize] == name) {
            Some(code) => code,
            None => *known.entry(name.to_owned()).or_insert_with(|| {
                self.names.push(name.to_owned());
                self.names.len() as u32 - 1
            }),
        };
        self.codes.push(code);
    }
}

/// A kind of trace, as an entry of the list of kinds.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// See [`TraceKind::NAME`].
    pub name: &'static str,
    /// See [`TraceKind::TABLE`].
    pub table: &'static str,
    /// See [`TraceKind::SUMMARY`].
    pub summary: &'static str,
    /// The columns of the trace's table.
    pub columns: fn() -> Vec<Column>,
    pub(super) build: fn(Detail, &Setting) -> Box<dyn Recorder>,
}

impl Kind {
    /// The kind `K`.
    pub const fn of<K: TraceKind>() -> Self {
        Self {
            name: K::NAME,
            table: K::TABLE,
            summary: K::SUMMARY,
            columns: || K::FIELDS.iter().map(|field| field.column).collect(),
            build: |detail, setting| Box::new(K::new(detail, setting)),
        }
    }
}
