//! Declares strong integer ids.

/// Declares a newtype over an integer with order, hash, display, `index()` and `from_index()`.
#[macro_export]
macro_rules! id {
    ($(#[$meta:meta])* $name:ident($inner:ty)) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl $name {
            /// The id as an index into a vector.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of a vector's element. Panics when the index does not fit the id.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                assert!(index as u128 <= <$inner>::MAX as u128, "index {index} does not fit");
                Self(index as $inner)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}
