use crate::{ApplyError, Image, Record};

#[cfg(test)]
mod tests;

/// An image that follows a log with transactions (KIP-868): what is between the records that begin
/// and end one becomes visible at once, or never.
#[derive(Clone, Debug, Default)]
pub struct Loader {
    image: Image,
    /// The records of the transaction that is open.
    open: Option<Vec<Record>>,
}

impl Loader {
    /// A loader that begins with an image, such as that of a snapshot.
    pub fn new(image: Image) -> Self {
        Self { image, open: None }
    }

    /// The image without what an open transaction has.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The image, without what an open transaction has.
    pub fn into_image(self) -> Image {
        self.image
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the next record of the log. A transaction's records are applied with the one that ends
    /// it; an error then names the first that does not fit, and the image has those before it.
    pub fn apply(&mut self, record: Record) -> Result<(), ApplyError> {
        let (_, name) = record.kind();
        match (record, &mut self.open) {
            (Record::BeginTransaction(_), open @ None) => *open = Some(Vec::new()),
            (Record::EndTransaction(_), Some(records)) => {
                let records = std::mem::take(records);
                self.open = None;
                return records
                    .iter()
                    .try_for_each(|record| self.image.apply(record));
            }
            (Record::AbortTransaction(_), open @ Some(_)) => *open = None,
            (
                Record::BeginTransaction(_)
                | Record::EndTransaction(_)
                | Record::AbortTransaction(_),
                _,
            ) => return Err(ApplyError::Transaction(name)),
            (record, Some(records)) => records.push(record),
            (record, None) => return self.image.apply(&record),
        }
        Ok(())
    }
}
