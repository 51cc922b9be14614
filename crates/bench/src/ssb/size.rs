//! How large the tables are.

/// Rows of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Orders, of four lines each in the mean.
    pub orders: u64,
    /// Customers.
    pub customers: u64,
    /// Suppliers.
    pub suppliers: u64,
    /// Parts.
    pub parts: u64,
}

impl Size {
    /// Those of a scale.
    pub fn of(scale: f64) -> Self {
        let times = |rows: f64| ((rows * scale) as u64).max(1);
        // As many parts again with each doubling of the scale; a share of them below scale 1.
        let parts =
            if scale < 1.0 { times(200_000.0) } else { 200_000 * (1 + scale.log2() as u64) };
        Self {
            orders: times(1_500_000.0),
            customers: times(30_000.0),
            suppliers: times(2_000.0),
            parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_as_large_as_the_scale_says() {
        let size =
            |orders, customers, suppliers, parts| Size { orders, customers, suppliers, parts };
        assert_eq!(Size::of(1.0), size(1_500_000, 30_000, 2_000, 200_000));
        assert_eq!(Size::of(50.0), size(75_000_000, 1_500_000, 100_000, 1_200_000));
        assert_eq!(Size::of(0.01), size(15_000, 300, 20, 2_000));
    }
}
