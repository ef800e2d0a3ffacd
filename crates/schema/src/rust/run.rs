use super::shape::{Shape, When};
use crate::{Field, Struct};

/// A step of reading or writing the fields of a struct in order.
pub(super) enum Step<'a> {
    /// A field on its own, and when it is there.
    One(&'a Field, When),
    /// Neighbours of fixed size: one check of the bounds does for all.
    Run(Run<'a>),
}

/// Neighbours of fixed size, which are all there from some version on.
#[derive(Default)]
pub(super) struct Run<'a> {
    /// The fields.
    pub(super) fields: Vec<RunField<'a>>,
    /// Bytes in all, where all are there.
    pub(super) size: usize,
    /// The version from which all are there: the greatest of theirs.
    since: i16,
}

/// A field of a run.
pub(super) struct RunField<'a> {
    pub(super) field: &'a Field,
    /// When it is there.
    pub(super) when: When,
    /// Its position in bytes, where all are there.
    pub(super) at: usize,
}

impl<'a> Run<'a> {
    fn push(&mut self, field: &'a Field, when: When, since: i16, size: usize) {
        let at = self.size;
        self.fields.push(RunField { field, when, at });
        self.size += size;
        self.since = self.since.max(since);
    }

    /// When all fields are there.
    pub(super) fn all(&self) -> When {
        // The field that came last says it for all.
        let last = format!("version >= {}", self.since);
        let last = |field: &&RunField<'_>| field.when.expression() == last;
        self.fields
            .iter()
            .find(last)
            .map_or(When::Always, |field| field.when.clone())
    }

    /// Whether there is no version in which some are there and others are not.
    pub(super) fn is_all_or_none(&self) -> bool {
        self.fields.iter().all(|field| field.when == self.all())
    }
}

/// The fields of a struct as steps. Fields that are never there come first, since they interrupt
/// nothing.
pub(super) fn steps<'a>(shape: &Shape<'_>, owner: &'a Struct) -> Vec<Step<'a>> {
    let mut absent = Vec::new();
    let mut steps = Vec::new();
    let mut run = Run::default();
    for field in &owner.fields {
        let when = shape.plain(owner, field);
        if when == When::Never {
            absent.push(Step::One(field, when));
            continue;
        }
        let size = field.ty.fixed_size().filter(|_| field.tag.is_none());
        match (size, shape.since(owner, field)) {
            (Some(size), Some(since)) => run.push(field, when, since, size),
            _ => {
                steps.extend(finish(&mut run));
                steps.push(Step::One(field, when));
            }
        }
    }
    steps.extend(finish(&mut run));
    absent.into_iter().chain(steps).collect()
}

/// The run as steps: a run of one is none.
fn finish<'a>(run: &mut Run<'a>) -> Option<Step<'a>> {
    let mut run = std::mem::take(run);
    match run.fields.len() {
        0 => None,
        1 => run
            .fields
            .pop()
            .map(|RunField { field, when, .. }| Step::One(field, when)),
        _ => Some(Step::Run(run)),
    }
}
