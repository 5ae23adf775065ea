//! Flow control: how a switch stops the neighbours that send to it, instead of dropping their
//! packets. Each scheme has a file, and a line in the list below.
//!
//! A switch with flow control counts the packets in its buffers by the input from which they came,
//! and by class. A scheme only decides when the neighbour at an input must stop, and when the
//! neighbour may continue.

use incast_engine::{Entry, Fault, Foreign};

use crate::buffer::Pool;
use crate::packets::Occupancy;
use crate::queue::CLASSES;

mod none;
mod pause;

/// The packets in a switch that came from one input.
#[derive(Clone, Debug, Default)]
pub struct Ingress {
    /// Packets and bytes of each class.
    pub held: [Occupancy; CLASSES],
    /// The classes that the neighbour must not send, one bit each.
    pub stopped: u8,
}

impl Ingress {
    /// Packets and bytes of all classes.
    pub fn total(&self) -> Occupancy {
        self.held.iter().fold(Occupancy::default(), |sum, class| sum + *class)
    }
}

/// A message to the neighbour at an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The classes that must stop or may continue, one bit each.
    pub classes: u8,
    /// Whether the neighbour must stop sending these classes. If false, it may send them again.
    pub stops: bool,
}

/// All classes of an input.
pub const EVERY_CLASS: u8 = u8::MAX;

/// Decides when the neighbour at an input must stop.
pub trait FlowControl {
    /// Called after a packet of `class` from the input has joined a queue of the switch.
    fn entered(&mut self, input: &Ingress, class: usize, pool: Option<&Pool>) -> Option<Signal>;
    /// Called after a packet of `class` from the input has left the switch, or was dropped after
    /// its admission.
    fn left(&mut self, input: &Ingress, class: usize, pool: Option<&Pool>) -> Option<Signal>;
}

/// The parameters of a scheme.
pub trait Parameters {
    /// Finds the first invalid parameter.
    ///
    /// # Errors
    /// The key of this parameter, and the reason why its value is invalid.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

macro_rules! flow_controls {
    ($($name:literal => $variant:ident($module:ident): $summary:literal;)+) => {
        /// A scheme of flow control and its parameters.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name")]
        pub enum FlowControlConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
            /// A scheme that is defined elsewhere.
            #[serde(rename = "foreign", skip_deserializing)]
            #[schemars(skip)]
            Foreign(Foreign<dyn FlowControl + Send>),
        }

        /// The list of schemes.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        /// The running scheme of a switch.
        pub enum Controls {
            $(#[doc = $summary] $variant($module::$variant),)+
            /// A scheme from another crate.
            Custom(Box<dyn FlowControl + Send>),
        }

        impl FlowControlConfig {
            /// Finds the first invalid parameter.
            ///
            /// # Errors
            /// The key of this parameter, and the reason why its value is invalid.
            pub fn check(&self) -> Result<(), Fault> {
                match self {
                    $(Self::$variant(params) => params.check(),)+
                    Self::Foreign(_) => Ok(()),
                }
            }

            /// A scheme with these parameters, for one switch.
            pub fn build(&self) -> Controls {
                match self {
                    $(Self::$variant(params) => Controls::$variant($module::$variant::new(params)),)+
                    Self::Foreign(scheme) => Controls::Custom(scheme.build(&())),
                }
            }
        }

        impl FlowControl for Controls {
            fn entered(
                &mut self,
                input: &Ingress,
                class: usize,
                pool: Option<&Pool>,
            ) -> Option<Signal> {
                match self {
                    $(Self::$variant(it) => it.entered(input, class, pool),)+
                    Self::Custom(it) => it.entered(input, class, pool),
                }
            }

            fn left(
                &mut self,
                input: &Ingress,
                class: usize,
                pool: Option<&Pool>,
            ) -> Option<Signal> {
                match self {
                    $(Self::$variant(it) => it.left(input, class, pool),)+
                    Self::Custom(it) => it.left(input, class, pool),
                }
            }
        }
    };
}

flow_controls! {
    "none" => None(none): "The neighbours are never stopped; what does not fit is dropped.";
    "pause" => Pause(pause): "Stops a neighbour of which the switch holds too much, with all its classes (IEEE 802.3 annex 31B).";
}

impl Default for FlowControlConfig {
    fn default() -> Self {
        Self::None(none::Params {})
    }
}

impl FlowControlConfig {
    /// Whether no neighbour is ever stopped.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None(_))
    }
}

#[cfg(test)]
mod law_tests;
