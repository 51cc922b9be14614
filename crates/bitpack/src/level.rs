//! Which instructions the processor has, as a proof.
//!
//! Key decision: a [`Level`] can only be had from the check of the processor, so safe code can hand one to a kernel and no
//! caller can be wrong about it. What is merely named, in a setting or a table of contents, is [`Instructions`].

/// An instruction set that kernels are written for: a name, which proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Instructions {
    /// Plain Rust, on every processor.
    Portable,
    /// 256-bit vectors: AVX2, BMI1, BMI2, POPCNT.
    Avx2,
    /// 512-bit vectors with byte permutes: AVX-512 F, BW, VL, DQ and VBMI.
    Avx512,
}

/// Instructions that this processor has. Only [`Level::detect`] and what goes by it make one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Level(Instructions);

impl Level {
    /// What every processor has.
    pub const PORTABLE: Self = Self(Instructions::Portable);

    /// The best level of this processor.
    pub fn detect() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vbmi");
            if avx2 && avx512 {
                return Self(Instructions::Avx512);
            } else if avx2 {
                return Self(Instructions::Avx2);
            }
        }
        Self::PORTABLE
    }

    /// The level of these instructions, if this processor has them.
    pub fn of(instructions: Instructions) -> Option<Self> {
        (instructions <= Self::detect().0).then_some(Self(instructions))
    }

    /// The levels of this processor, the plainest first.
    pub fn available() -> Vec<Self> {
        let all = [Instructions::Portable, Instructions::Avx2, Instructions::Avx512];
        all.into_iter().filter_map(Self::of).collect()
    }

    /// What the processor is known to have.
    #[inline]
    pub fn instructions(self) -> Instructions {
        self.0
    }

    /// The level of a table of kernels that was handed out, which happens only where its level runs.
    #[inline]
    pub(crate) const fn of_table_in_use(instructions: Instructions) -> Self {
        Self(instructions)
    }
}

impl PartialEq<Instructions> for Level {
    #[inline]
    fn eq(&self, other: &Instructions) -> bool {
        self.0 == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_what_the_processor_has() {
        let best = Level::detect();
        let levels = Level::available();
        assert_eq!((levels[0], levels.last()), (Level::PORTABLE, Some(&best)));
        for named in [Instructions::Portable, Instructions::Avx2, Instructions::Avx512] {
            assert_eq!(Level::of(named).is_some(), named <= best.instructions());
            assert_eq!(Level::of(named).map(Level::instructions), Level::of(named).map(|_| named));
        }
    }
}
