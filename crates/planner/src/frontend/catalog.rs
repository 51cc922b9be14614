//! Tables and functions as DataFusion asks for them.

use std::collections::{HashMap, HashSet};

use datafusion_common::arrow::datatypes::{DataType as Arrow, Field, FieldRef, Schema, SchemaRef};
use datafusion_common::config::ConfigOptions;
use datafusion_common::{DataFusionError, Result, TableReference};
use datafusion_expr::planner::{ContextProvider, ExprPlanner};
use datafusion_expr::{
    AggregateUDF, HigherOrderUDF, ScalarUDF, TableSource, Volatility, WindowUDF,
};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex};
use types::{CatalogView, TableId, TableInfo};

use super::average::average;
use super::types::to_arrow;

/// Tables that are remembered at most.
const SOURCES_MAX: usize = 1024;

/// What does not change from query to query.
pub struct Library {
    scalars: HashMap<String, Arc<ScalarUDF>>,
    aggregates: HashMap<String, Arc<AggregateUDF>>,
    planners: Vec<Arc<dyn ExprPlanner>>,
    /// DataFusion's settings.
    pub options: Arc<ConfigOptions>,
    /// Tables of earlier queries, as long as they are the same.
    sources: Mutex<HashMap<TableId, Arc<Source>>>,
}

impl Default for Library {
    fn default() -> Self {
        Self::new()
    }
}

impl Library {
    /// All functions of DataFusion's library.
    pub fn new() -> Self {
        let mut scalars = HashMap::new();
        for function in datafusion_functions::all_default_functions() {
            for alias in function.aliases() {
                scalars.insert(alias.clone(), Arc::clone(&function));
            }
            scalars.insert(function.name().to_owned(), function);
        }
        let mut aggregates = HashMap::new();
        for function in datafusion_functions_aggregate::all_default_aggregate_functions() {
            let function = match function.name() {
                "avg" => Arc::new(average(function)),
                _ => function,
            };
            for alias in function.aliases() {
                aggregates.insert(alias.clone(), Arc::clone(&function));
            }
            aggregates.insert(function.name().to_owned(), function);
        }
        let planners: Vec<Arc<dyn ExprPlanner>> = vec![
            Arc::new(datafusion_functions_aggregate::planner::AggregateFunctionPlanner),
            Arc::new(datafusion_functions::core::planner::CoreFunctionPlanner::default()),
            Arc::new(datafusion_functions::datetime::planner::DatetimeFunctionPlanner),
            Arc::new(datafusion_functions::unicode::planner::UnicodeFunctionPlanner),
        ];
        let mut options = ConfigOptions::default();
        options.optimizer.max_passes = 1;
        options.optimizer.skip_failed_rules = false;
        options.sql_parser.parse_float_as_decimal = true;
        let sources = Mutex::new(HashMap::new());
        Self { scalars, aggregates, planners, options: Arc::new(options), sources }
    }

    /// A table as DataFusion sees it; that of an earlier query when it is still the same table.
    fn source(&self, table: Arc<TableInfo>) -> Arc<Source> {
        let mut sources = self.sources.lock();
        if let Some(known) = sources.get(&table.id)
            && Arc::ptr_eq(&known.table, &table)
        {
            return known.clone();
        }
        if sources.len() >= SOURCES_MAX {
            sources.clear();
        }
        let (id, source) = (table.id, Arc::new(Source::new(table)));
        sources.insert(id, source.clone());
        source
    }

    /// The names of all functions, for suggestions.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.scalars.keys().chain(self.aggregates.keys()).map(String::as_str)
    }

    /// A scalar function.
    pub fn scalar(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.scalars.get(name).cloned()
    }
}

/// A table as DataFusion sees it.
pub struct Source {
    /// What we know of it.
    pub table: Arc<TableInfo>,
    schema: SchemaRef,
    /// The places of the fields in the table, when they are not all of its columns.
    pub columns: Option<Vec<usize>>,
    /// The names of the fields in lower case.
    names: Arc<[String]>,
}

impl Source {
    fn new(table: Arc<TableInfo>) -> Self {
        let fields: Vec<Field> = table
            .columns
            .iter()
            .map(|it| {
                // Exact statistics: a column without NULL is as good as NOT NULL for this statement.
                let nullable = it.nullable && (it.statistics.nulls > 0 || table.rows == 0);
                Field::new(&it.name, to_arrow(it.data_type), nullable)
            })
            .collect();
        let names = table.columns.iter().map(|it| it.name.to_lowercase()).collect();
        Self { table, schema: Arc::new(Schema::new(fields)), columns: None, names }
    }

    /// The table with the columns of some names alone; with one at least.
    fn with_names(&self, wanted: &HashSet<String>) -> Self {
        let places = self.names.iter().enumerate().filter(|it| wanted.contains(it.1));
        let mut columns: Vec<usize> = places.map(|it| it.0).collect();
        if columns.is_empty() && !self.names.is_empty() {
            columns.push(0);
        }
        let fields: Vec<FieldRef> =
            columns.iter().map(|&it| Arc::clone(&self.schema.fields()[it])).collect();
        let schema = Arc::new(Schema::new(fields));
        let (table, names) = (Arc::clone(&self.table), Arc::clone(&self.names));
        Self { table, schema, columns: Some(columns), names }
    }
}

impl TableSource for Source {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A catalog and the library, for the length of one query.
pub struct Context<'a> {
    /// The tables.
    pub catalog: &'a dyn CatalogView,
    /// The functions.
    pub library: &'a Library,
    sources: Mutex<HashMap<String, Arc<Source>>>,
    /// The names that the query can mean, when they tell.
    wanted: Option<HashSet<String>>,
    unstable: AtomicBool,
}

impl<'a> Context<'a> {
    /// A context.
    pub fn new(
        catalog: &'a dyn CatalogView,
        library: &'a Library,
        wanted: Option<HashSet<String>>,
    ) -> Self {
        let sources = Mutex::new(HashMap::new());
        Self { catalog, library, sources, wanted, unstable: AtomicBool::new(false) }
    }

    /// Whether no function was asked for whose result changes from statement to statement.
    pub fn is_stable(&self) -> bool {
        !self.unstable.load(Ordering::Relaxed)
    }

    /// The name of some table that has a column of this name, or nearly.
    pub fn table(&self, schema: Option<&str>, name: &str) -> Option<Arc<TableInfo>> {
        self.catalog.table(schema, name)
    }
}

/// The mark by which our own error conversion knows a missing table.
pub const NO_TABLE: &str = "nodewise: no table ";

impl ContextProvider for Context<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let key = name.to_string();
        let mut sources = self.sources.lock();
        if let Some(source) = sources.get(&key) {
            return Ok(Arc::clone(source) as Arc<dyn TableSource>);
        }
        let found = self.catalog.table(name.schema(), name.table());
        let table = found.ok_or_else(|| DataFusionError::Plan(format!("{NO_TABLE}{name}")))?;
        let source = self.library.source(table);
        let source = match &self.wanted {
            Some(wanted) => Arc::new(source.with_names(wanted)),
            None => source,
        };
        sources.insert(key, Arc::clone(&source));
        Ok(source)
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.library.planners
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        let function = self.library.scalars.get(name).cloned();
        if function.as_ref().is_some_and(|it| it.signature().volatility != Volatility::Immutable) {
            self.unstable.store(true, Ordering::Relaxed);
        }
        function
    }

    fn get_higher_order_meta(&self, _name: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.library.aggregates.get(name).cloned()
    }

    fn get_window_meta(&self, _name: &str) -> Option<Arc<WindowUDF>> {
        None
    }

    fn get_variable_type(&self, _variable_names: &[String]) -> Option<Arrow> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &self.library.options
    }

    fn udf_names(&self) -> Vec<String> {
        self.library.scalars.keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.library.aggregates.keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        Vec::new()
    }
}
