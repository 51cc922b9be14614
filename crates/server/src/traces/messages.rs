//! What is said to a collector: messages of OTLP 1, those fields of them that are filled in.
//!
//! Names and numbers are those of `trace.proto`, `common.proto`, `resource.proto` and `trace_service.proto` of opentelemetry-proto,
//! which promises that they stay.

use prost::{Message, Oneof};

/// A call with spans.
#[derive(Clone, PartialEq, Message)]
pub struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    pub resource_spans: Vec<ResourceSpans>,
}

/// The answer to it.
#[derive(Clone, PartialEq, Message)]
pub struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub partial_success: Option<PartialSuccess>,
}

/// How many spans were not taken, of a call that went well.
#[derive(Clone, PartialEq, Message)]
pub struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub rejected_spans: i64,
    #[prost(string, tag = "2")]
    pub error_message: String,
}

/// The spans of a program.
#[derive(Clone, PartialEq, Message)]
pub struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub scope_spans: Vec<ScopeSpans>,
}

/// A program.
#[derive(Clone, PartialEq, Message)]
pub struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<KeyValue>,
}

/// The spans of a part of a program.
#[derive(Clone, PartialEq, Message)]
pub struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    pub scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub spans: Vec<Span>,
}

/// A part of a program.
#[derive(Clone, PartialEq, Message)]
pub struct Scope {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub version: String,
}

/// Something that took time.
#[derive(Clone, PartialEq, Message)]
pub struct Span {
    #[prost(bytes = "vec", tag = "1")]
    pub trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    pub parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    pub name: String,
    #[prost(int32, tag = "6")]
    pub kind: i32,
    #[prost(fixed64, tag = "7")]
    pub start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    pub end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    pub status: Option<SpanStatus>,
    #[prost(fixed32, tag = "16")]
    pub flags: u32,
}

/// How it ended.
#[derive(Clone, PartialEq, Message)]
pub struct SpanStatus {
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(int32, tag = "3")]
    pub code: i32,
}

/// A fact.
#[derive(Clone, PartialEq, Message)]
pub struct KeyValue {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<AnyValue>,
}

/// A value.
#[derive(Clone, PartialEq, Message)]
pub struct AnyValue {
    #[prost(oneof = "Of", tags = "1, 3")]
    pub value: Option<Of>,
}

/// A value of some kind.
#[derive(Clone, PartialEq, Oneof)]
pub enum Of {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Number(i64),
}

/// A fact that is a text.
pub fn text(key: &str, value: impl Into<String>) -> KeyValue {
    let value = Some(AnyValue { value: Some(Of::Text(value.into())) });
    KeyValue { key: key.to_owned(), value }
}

/// A fact that is a number.
pub fn number(key: &str, value: u64) -> KeyValue {
    let value = Of::Number(i64::try_from(value).unwrap_or(i64::MAX));
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the messages write it that are generated from the definitions of opentelemetry-proto 1 (its crate 0.33).
    const REQUEST: &str = "0aad010a180a160a0c736572766963652e6e616d6512060a0473686f701290010a110a086e6f6465776973651205302e312e30\
        127b0a100102030405060708090a0b0c0d0e0f10120811121314151617182208191a1b1c1d1e1f202a0953454c454354206462300239010\
        02a36fe9c97174102002a36fe9c97174a0b0a047465787412030a01784a0d0a066e756d626572120318ac027a12120e53514c5354415445\
        2032323031321802850101030000";
    const RESPONSE: &str = "0a06080712026e6f";

    #[test]
    fn messages_are_written_as_the_definitions_have_them() {
        let span = Span {
            trace_id: (1..=16).collect(),
            span_id: (17..=24).collect(),
            parent_span_id: (25..=32).collect(),
            name: "SELECT db".to_owned(),
            kind: 2,
            start_time_unix_nano: 1_700_000_000_000_000_001,
            end_time_unix_nano: 1_700_000_000_000_000_002,
            attributes: vec![text("text", "x"), number("number", 300)],
            status: Some(SpanStatus { message: "SQLSTATE 22012".to_owned(), code: 2 }),
            flags: 0x301,
        };
        let scope = Scope { name: "nodewise".to_owned(), version: "0.1.0".to_owned() };
        let scope_spans = vec![ScopeSpans { scope: Some(scope), spans: vec![span] }];
        let resource = Some(Resource { attributes: vec![text("service.name", "shop")] });
        let request =
            ExportRequest { resource_spans: vec![ResourceSpans { resource, scope_spans }] };
        let hex = |it: Vec<u8>| it.iter().map(|it| format!("{it:02x}")).collect::<String>();
        assert_eq!(hex(request.encode_to_vec()), REQUEST);
        let partial_success =
            Some(PartialSuccess { rejected_spans: 7, error_message: "no".to_owned() });
        assert_eq!(hex(ExportResponse { partial_success }.encode_to_vec()), RESPONSE);
    }
}
