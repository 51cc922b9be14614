//! The 24 tables: rows of the generator as Arrow batches.

use nodewise::made_files::{Batches, MadeData, MadeTable};
use nodewise::{SqlError, SqlResult, SqlState};
use tpcdsgen::config::{Session, SessionBuilder, Table};
use tpcdsgen_arrow::{
    CallCenterArrow, CatalogPageArrow, CatalogReturnsArrow, CatalogSalesArrow,
    CustomerAddressArrow, CustomerArrow, CustomerDemographicsArrow, DateDimArrow,
    HouseholdDemographicsArrow, IncomeBandArrow, InventoryArrow, ItemArrow, PromotionArrow,
    ReasonArrow, ShipModeArrow, StoreArrow, StoreReturnsArrow, StoreSalesArrow, TimeDimArrow,
    WarehouseArrow, WebPageArrow, WebReturnsArrow, WebSalesArrow, WebSiteArrow,
};

use crate::made::sources_of_part;

/// Rows that are made at a time.
const BATCH_ROWS: usize = 8 << 10;

/// The tables of a scale. What the generator itself is called and when it ran (`dbgen_version`) is no table of a query.
pub fn data(scale: f64) -> SqlResult<MadeData> {
    let session = SessionBuilder::new().with_scale_factor(scale).build();
    let session =
        session.ok().filter(|_| (0.01..=100_000.0).contains(&scale)).ok_or_else(|| {
            SqlError::new(SqlState::INVALID_PARAMETER, format!("no TPC-DS of scale {scale}"))
                .with_hint("scales go from 0.01 to 100000")
        })?;
    macro_rules! tables {
        ($($table:ident $reader:ident,)+) => {
            vec![$({
                let (table, session) = (Table::$table, session.clone());
                let sources = session.get_scaling().get_row_count(table);
                let rows = sources.saturating_mul(rows_of_a_source(table));
                MadeTable {
                    name: table.get_name(),
                    schema: $reader::schema_ref(),
                    rows: i64::try_from(rows).unwrap_or(i64::MAX),
                    part: Box::new(move |part, parts| -> Batches {
                        let (first, end) = sources_of_part(sources, part, parts);
                        let session: Session = session.clone();
                        let reader = $reader::new(session).with_batch_size(BATCH_ROWS);
                        Box::new(reader.with_source_row_range(first + 1, end))
                    }),
                }
            }),+]
        };
    }
    let tables = tables!(
        CallCenter CallCenterArrow,
        CatalogPage CatalogPageArrow,
        CatalogReturns CatalogReturnsArrow,
        CatalogSales CatalogSalesArrow,
        Customer CustomerArrow,
        CustomerAddress CustomerAddressArrow,
        CustomerDemographics CustomerDemographicsArrow,
        DateDim DateDimArrow,
        HouseholdDemographics HouseholdDemographicsArrow,
        IncomeBand IncomeBandArrow,
        Inventory InventoryArrow,
        Item ItemArrow,
        Promotion PromotionArrow,
        Reason ReasonArrow,
        ShipMode ShipModeArrow,
        Store StoreArrow,
        StoreReturns StoreReturnsArrow,
        StoreSales StoreSalesArrow,
        TimeDim TimeDimArrow,
        Warehouse WarehouseArrow,
        WebPage WebPageArrow,
        WebReturns WebReturnsArrow,
        WebSales WebSalesArrow,
        WebSite WebSiteArrow,
    );
    Ok(MadeData {
        title: "TPC-DS",
        marker: "nodewise-tpcds.txt",
        maker: "tpcdsgen 4, layout 1",
        size: format!("scale {scale}"),
        tables,
    })
}

/// Rows that come of one source row, about: a sale has several items, of which each may come back.
fn rows_of_a_source(table: Table) -> u64 {
    match table {
        Table::StoreSales | Table::WebSales => 12,
        Table::CatalogSales => 9,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_hold_the_rows_of_the_whole() {
        let data = data(0.01).unwrap();
        assert_eq!(data.tables.len(), 24);
        for name in ["store_sales", "web_returns", "inventory", "item", "date_dim"] {
            let table = data.tables.iter().find(|it| it.name == name).unwrap();
            let rows = |parts| -> usize {
                let of_part = |part| {
                    (table.part)(part, parts).map(|it| it.unwrap().num_rows()).sum::<usize>()
                };
                (1..=parts).map(of_part).sum()
            };
            assert_eq!(rows(1), rows(3), "{name}");
        }
        assert!(super::data(0.0).is_err() && super::data(f64::NAN).is_err());
    }
}
