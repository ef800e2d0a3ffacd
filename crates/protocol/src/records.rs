//! Record batches and the older message sets.
