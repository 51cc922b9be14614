//! What makes the functions of one list.

/// Makes the enum and its lists from one table of variant, name and meaning.
macro_rules! functions {
    ($($(#[doc = $meaning:literal])+ $variant:ident = $name:literal,)+) => {
        /// A scalar function. A NULL argument makes the result NULL unless the variant says otherwise.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Function {
            $($(#[doc = $meaning])+ $variant,)+
        }

        impl Function {
            /// All functions, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in a plan: what SQL calls it, or, for an operator without a name, a word of ours.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The function of exactly this name, as [`Function::name`] gives it.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::Function;

    #[test]
    fn a_name_leads_back_to_its_function() {
        for &function in Function::ALL {
            assert_eq!(Function::from_name(function.name()), Some(function));
            assert_eq!(format!("{function:?}"), function.name());
        }
        assert_eq!(Function::from_name("ABS"), None, "names in plans are exact");
        assert_eq!(Function::from_name("no_such_function"), None);
    }
}
