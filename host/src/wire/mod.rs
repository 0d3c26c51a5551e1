//! The wires that the plane is reached by.
