//! How strong a lock is, and which exclude each other: PostgreSQL's tables of conflicts.

/// The strength of a lock, of rows and keys first, then of tables; each kind from the weakest to the strongest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockMode {
    /// Nobody takes a key away.
    ForKeyShare,
    /// Nobody changes it.
    ForShare,
    /// Its holder changes it, but no key of it.
    ForNoKeyUpdate,
    /// Its holder changes it, or takes it away.
    ForUpdate,
    /// Of who reads the table in a block.
    AccessShare,
    /// Of who locks rows of it.
    RowShare,
    /// Of who changes rows of it.
    RowExclusive,
    /// Of one who keeps it in order.
    ShareUpdateExclusive,
    /// Nobody changes rows of it.
    Share,
    /// The same, and only one holds it so.
    ShareRowExclusive,
    /// Nobody locks or changes rows of it.
    Exclusive,
    /// Nobody else locks it at all.
    AccessExclusive,
}

/// What is done about a lock that another one holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LockWait {
    /// Wait for it.
    Wait,
    /// SKIP LOCKED: leave the row out.
    Skip,
    /// NOWAIT: fail.
    NoWait,
}

/// Modes of one holder, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LockModes(u16);

impl LockMode {
    const ALL: [Self; 12] = [
        Self::ForKeyShare,
        Self::ForShare,
        Self::ForNoKeyUpdate,
        Self::ForUpdate,
        Self::AccessShare,
        Self::RowShare,
        Self::RowExclusive,
        Self::ShareUpdateExclusive,
        Self::Share,
        Self::ShareRowExclusive,
        Self::Exclusive,
        Self::AccessExclusive,
    ];

    /// The modes in which nobody else may hold what one holds in this.
    fn conflicts(self) -> LockModes {
        use LockMode::*;
        let from = |first: Self, last: Self| {
            let modes = Self::ALL.into_iter().filter(|it| (first..=last).contains(it));
            modes.fold(LockModes::default(), LockModes::with)
        };
        match self {
            ForKeyShare => from(ForUpdate, ForUpdate),
            ForShare => from(ForNoKeyUpdate, ForUpdate),
            ForNoKeyUpdate => from(ForShare, ForUpdate),
            ForUpdate => from(ForKeyShare, ForUpdate),
            AccessShare => from(AccessExclusive, AccessExclusive),
            RowShare => from(Exclusive, AccessExclusive),
            RowExclusive => from(Share, AccessExclusive),
            ShareUpdateExclusive => from(ShareUpdateExclusive, AccessExclusive),
            Share => LockModes(
                from(RowExclusive, AccessExclusive).0 & !LockModes::default().with(Share).0,
            ),
            ShareRowExclusive => from(RowExclusive, AccessExclusive),
            Exclusive => from(RowShare, AccessExclusive),
            AccessExclusive => from(AccessShare, AccessExclusive),
        }
    }

    /// Its name in SQL: of rows behind FOR, of tables before MODE.
    pub fn name(self) -> &'static str {
        match self {
            Self::ForKeyShare => "KEY SHARE",
            Self::ForShare => "SHARE",
            Self::ForNoKeyUpdate => "NO KEY UPDATE",
            Self::ForUpdate => "UPDATE",
            Self::AccessShare => "ACCESS SHARE",
            Self::RowShare => "ROW SHARE",
            Self::RowExclusive => "ROW EXCLUSIVE",
            Self::ShareUpdateExclusive => "SHARE UPDATE EXCLUSIVE",
            Self::Share => "SHARE",
            Self::ShareRowExclusive => "SHARE ROW EXCLUSIVE",
            Self::Exclusive => "EXCLUSIVE",
            Self::AccessExclusive => "ACCESS EXCLUSIVE",
        }
    }

    /// How `pg_locks` calls it: `RowExclusiveLock`.
    pub fn catalog_name(self) -> String {
        let word = |it: &str| format!("{}{}", &it[..1], it[1..].to_lowercase());
        format!("{}Lock", self.name().split(' ').map(word).collect::<String>())
    }
}

impl LockModes {
    /// These and one more.
    pub fn with(self, mode: LockMode) -> Self {
        Self(self.0 | 1 << mode as u16)
    }

    /// These without one.
    pub fn without(self, mode: LockMode) -> Self {
        Self(self.0 & !(1 << mode as u16))
    }

    /// Whether a mode is one of them.
    pub fn has(self, mode: LockMode) -> bool {
        self.0 & 1 << mode as u16 != 0
    }

    /// Whether another one may not take a mode beside these.
    pub fn exclude(self, mode: LockMode) -> bool {
        self.0 & mode.conflicts().0 != 0
    }

    /// From the weakest to the strongest.
    pub fn iter(self) -> impl Iterator<Item = LockMode> {
        LockMode::ALL.into_iter().filter(move |it| self.0 & 1 << *it as u16 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PostgreSQL 18, tables 13.2 and 13.3: of each mode those that conflict with it.
    #[test]
    fn modes_exclude_each_other_as_in_postgresql() {
        let rows = ["...X", "..XX", ".XXX", "XXXX"];
        let tables = [
            ".......X", "......XX", "....XXXX", "...XXXXX", "..XX.XXX", "..XXXXXX", ".XXXXXXX",
            "XXXXXXXX",
        ];
        for (first, table) in [(0, &rows[..]), (4, &tables[..])] {
            for (place, row) in table.iter().enumerate() {
                for (other, sign) in row.chars().enumerate() {
                    let held = LockModes::default().with(LockMode::ALL[first + other]);
                    let wanted = LockMode::ALL[first + place];
                    assert_eq!(held.exclude(wanted), sign == 'X', "{wanted:?}, {held:?}");
                }
            }
        }
        assert_eq!(LockMode::ShareUpdateExclusive.catalog_name(), "ShareUpdateExclusiveLock");
    }
}
