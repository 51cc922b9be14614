//! Which types the arguments of functions of paths are cast to, and what comes out.

use plan::Function;
use types::{DataType, Element};

use crate::resolve::Signature;

const TEXT: DataType = DataType::Text;
const JSONB: DataType = DataType::Jsonb;

/// The signature of a call of a function of paths; `None` where it takes no such arguments.
pub(crate) fn signature(function: Function, arguments: &[DataType]) -> Option<Signature> {
    use Function as F;
    let result = match function {
        F::JsonPathNormal => {
            let [of] = arguments else { return None };
            let is_text = *of == DataType::Null || of.is_text();
            return is_text.then(|| Signature { arguments: vec![TEXT], result: TEXT });
        }
        F::JsonPathExists | F::JsonPathMatch => DataType::Boolean,
        F::JsonPathItems => DataType::Array(Element::Jsonb),
        F::JsonPathArray | F::JsonPathFirst => JSONB,
        F::JsonSingle => JSONB,
        F::JsonSingleState => DataType::Integer,
        _ => return None,
    };
    let has_mode = matches!(function, F::JsonSingle | F::JsonSingleState);
    let takes = |place: usize, it: DataType| match place {
        0 | 2 => matches!(it, JSONB | DataType::Null).then_some(JSONB),
        1 => (it == DataType::Null || it.is_text()).then_some(TEXT),
        3 => matches!(it, DataType::Boolean | DataType::Null).then_some(DataType::Boolean),
        4 => it.is_text().then_some(TEXT),
        // The day that the clocks of the zone before show.
        5 => (!has_mode && it == DataType::Date).then_some(it),
        _ => None,
    };
    let is_right = if has_mode { arguments.len() == 5 } else { arguments.len() != 5 };
    if arguments.len() < 2 || !is_right {
        return None;
    }
    let arguments: Option<Vec<DataType>> =
        arguments.iter().enumerate().map(|it| takes(it.0, *it.1)).collect();
    Some(Signature { arguments: arguments?, result })
}
