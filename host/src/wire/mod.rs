//! The wires that the plane is reached by, one folder each. A wire knows the plane and
//! nothing below it; the plane knows no wire.

pub mod serve;
