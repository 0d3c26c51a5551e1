//! Drivers that are programs, spoken to over their stdio.
