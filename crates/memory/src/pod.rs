//! Types whose values are plain bytes.

/// A type that any bytes are a value of, without padding, aligned to at most 64 bytes.
///
/// # Safety
/// All of that must hold: segments reinterpret recycled bytes as slices of such types.
pub unsafe trait Pod: Copy + Send + Sync + 'static {}

macro_rules! pods {
    ($($pod:ty),*) => {$(
        // SAFETY: a primitive number has no padding and no invalid bits, and is aligned to at most 16 bytes.
        unsafe impl Pod for $pod {}
    )*};
}
pods!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);

// SAFETY: an array of such values has no padding between them and the alignment of one.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}
