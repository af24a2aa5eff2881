//! Vectors of texts: a frame's text columns, long lists of strings.

use super::arrays::{self, Elements};
use super::codes;
use super::report::Report;
use super::show;
use super::tolerance::Tolerance;
use crate::verify::capture::node::{Node, Text};
use crate::verify::capture::source::Source;
use crate::verify::capture::{Capture, CaptureError};

/// Texts that can be read one by one.
pub struct Texts {
    /// Their shape.
    pub shape: Vec<u64>,
    count: u64,
    place: Place,
}

enum Place {
    Memory(Vec<Option<String>>),
    Files(Box<Files>),
}

/// All texts' bytes, where each begins and the last ends, and which are missing.
struct Files {
    bytes: Source,
    offsets: Elements,
    missing: Option<Elements>,
}

/// The longest text that is read at once.
const LONGEST: u64 = 1 << 30;

impl Texts {
    /// Opens a text node.
    pub fn open(capture: &Capture, node: &Text) -> Result<Self, CaptureError> {
        let inconsistent =
            || CaptureError::Inconsistent("texts and their sizes don't fit together".to_owned());
        let count = node
            .shape
            .iter()
            .try_fold(1_u64, |count, extent| count.checked_mul(*extent))
            .ok_or_else(inconsistent)?;
        if let Some(items) = &node.items {
            return if items.len() as u64 == count {
                Ok(Self { shape: node.shape.clone(), count, place: Place::Memory(items.clone()) })
            } else {
                Err(inconsistent())
            };
        }
        let open = |node: &Node, expected: u64, dtype: &str| match node {
            Node::Array(array) if array.dtype == dtype && array.shape == [expected] => {
                Elements::from_node(capture, array)
            }
            _ => Err(inconsistent()),
        };
        let bytes = capture.file(node.bytes.as_deref().ok_or_else(inconsistent)?)?;
        let offsets = node.offsets.as_deref().ok_or_else(inconsistent)?;
        let offsets = open(offsets, count.checked_add(1).ok_or_else(inconsistent)?, "<i8")?;
        let missing = node.missing.as_deref().map(|node| open(node, count, "|b1")).transpose()?;
        Ok(Self {
            shape: node.shape.clone(),
            count,
            place: Place::Files(Box::new(Files { bytes, offsets, missing })),
        })
    }

    /// The number of texts.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether two vectors are the same byte for byte, which is known faster than text by text.
    fn same_bytes(&self, other: &Self) -> Result<bool, CaptureError> {
        let unreadable = |error: std::io::Error| CaptureError::Inconsistent(error.to_string());
        match (&self.place, &other.place) {
            (Place::Memory(one), Place::Memory(two)) => Ok(one == two),
            (Place::Files(one), Place::Files(two)) => {
                let same = |a: &Elements, b: &Elements| {
                    arrays::compare(a, b, Tolerance::EXACT).map(|judged| judged.found.fails == 0)
                };
                let present = match (&one.missing, &two.missing) {
                    (None, None) => true,
                    (Some(a), Some(b)) => same(a, b).map_err(unreadable)?,
                    _ => false,
                };
                Ok(present
                    && same(&one.offsets, &two.offsets).map_err(unreadable)?
                    && one.bytes.same(&two.bytes).map_err(unreadable)?)
            }
            _ => Ok(false),
        }
    }

    /// One text; `None` where it is missing.
    pub fn get(&self, index: u64) -> Result<Option<Vec<u8>>, CaptureError> {
        let damaged = |_| CaptureError::Inconsistent("a text lies outside of its file".to_owned());
        match &self.place {
            Place::Memory(items) => Ok(items[index as usize].as_ref().map(|text| text.as_bytes().to_vec())),
            Place::Files(files) => {
                let Files { bytes, offsets, missing } = files.as_ref();
                if let Some(missing) = missing
                    && missing.element(index).map_err(damaged)? != [0]
                {
                    return Ok(None);
                }
                let offset = |index| {
                    let element = offsets.element(index).map_err(damaged)?;
                    u64::try_from(show::integer(&element, false, true))
                        .map_err(|_| CaptureError::Inconsistent("a text begins before its file".to_owned()))
                };
                let (begin, end) = (offset(index)?, offset(index + 1)?);
                let length = end.checked_sub(begin).filter(|length| *length <= LONGEST);
                let length = length.ok_or_else(|| {
                    CaptureError::Inconsistent("a text ends before its beginning".to_owned())
                })?;
                if end > bytes.len() {
                    return Err(CaptureError::Inconsistent("a text lies outside of its file".to_owned()));
                }
                let mut text = vec![0; length as usize];
                bytes.read_at(&mut text, begin).map_err(damaged)?;
                Ok(Some(text))
            }
        }
    }
}

/// Compares two vectors of texts exactly.
pub fn compare(
    before: &Texts,
    after: &Texts,
    path: &str,
    report: &mut Report<'_>,
) -> Result<(), CaptureError> {
    if before.shape != after.shape {
        let message = format!("{path}: shape {:?} became {:?}", before.shape, after.shape);
        report.differs(path, codes::SHAPE, message);
        return Ok(());
    }
    report.comparison.element_count += before.count();
    if before.same_bytes(after)? {
        return Ok(());
    }
    let (mut count, mut first) = (0_u64, None);
    for index in 0..before.count() {
        let (a, b) = (before.get(index)?, after.get(index)?);
        if a != b {
            count += 1;
            first.get_or_insert((index, a, b));
        }
    }
    if let Some((index, a, b)) = first {
        let text = |text: Option<Vec<u8>>| match text {
            Some(bytes) => show::text(&String::from_utf8_lossy(&bytes)),
            None => "missing".to_owned(),
        };
        let message = format!(
            "{path}[{index}]: {} became {}; {count} of {} texts differ",
            text(a),
            text(b),
            before.count()
        );
        report.differs(path, codes::VALUE, message);
    }
    Ok(())
}
