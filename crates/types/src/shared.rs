//! How serde writes what is shared: as the value alone, so that who reads it has one of its own. For `#[serde(with)]`;
//! serde's own way knows std's `Arc` only, and ours is another one in model checks ([`stdx::sync`]).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stdx::sync::Arc;

/// Writes what is behind the reference.
pub fn serialize<T, S>(value: &Arc<T>, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Serialize + ?Sized,
    S: Serializer,
{
    value.as_ref().serialize(serializer)
}

/// Reads a value and makes it shared.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Arc<T>, D::Error>
where
    T: ?Sized,
    Box<T>: Deserialize<'de>,
    Arc<T>: From<Box<T>>,
    D: Deserializer<'de>,
{
    Box::<T>::deserialize(deserializer).map(Arc::from)
}

/// The same for a text that may be missing.
pub mod optional_text {
    use super::{Arc, Deserialize, Deserializer, Serialize, Serializer};

    /// Writes what is behind the reference, if there is one.
    pub fn serialize<S: Serializer>(
        value: &Option<Arc<str>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_deref().serialize(serializer)
    }

    /// Reads a text, if there is one, and makes it shared.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<str>>, D::Error> {
        let text: Option<Box<str>> = Deserialize::deserialize(deserializer)?;
        Ok(text.map(Arc::from))
    }
}
