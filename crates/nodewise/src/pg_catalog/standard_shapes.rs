//! The columns of the views of `information_schema`, which are those of PostgreSQL, each with the letter of its type
//! ([`columns_of`](crate::views::columns_of)).

/// What is said of a type, which is [`said_type_cells`](super::information_columns::said_type_cells).
macro_rules! said_type {
    () => {
        "data_type:t character_maximum_length:4 character_octet_length:4 character_set_catalog:d character_set_schema:d character_set_name:d collation_catalog:d collation_schema:d collation_name:d numeric_precision:4 numeric_precision_radix:4 numeric_scale:4 datetime_precision:4 interval_type:t interval_precision:4"
    };
}
/// What stands behind the name of a type: what only the standard has, and by what `element_types` refers to it.
macro_rules! reference {
    () => {
        "scope_catalog:d scope_schema:d scope_name:d maximum_cardinality:4 dtd_identifier:d"
    };
}

pub(super) const APPLICABLE_ROLES: &str = "grantee:d role_name:d is_grantable:t";
pub(super) const ATTRIBUTES: &str = concat!(
    "udt_catalog:d udt_schema:d udt_name:d attribute_name:d ordinal_position:4 attribute_default:t is_nullable:t ",
    said_type!(),
    " attribute_udt_catalog:d attribute_udt_schema:d attribute_udt_name:d ",
    reference!(),
    " is_derived_reference_attribute:t"
);
pub(super) const CHECK_CONSTRAINTS: &str =
    "constraint_catalog:d constraint_schema:d constraint_name:d check_clause:t";
pub(super) const COLUMNS: &str = "table_catalog:d table_schema:d table_name:d column_name:d ordinal_position:4 column_default:t is_nullable:t data_type:t character_maximum_length:4 character_octet_length:4 numeric_precision:4 numeric_precision_radix:4 numeric_scale:4 datetime_precision:4 interval_type:t interval_precision:4 character_set_catalog:d character_set_schema:d character_set_name:d collation_catalog:d collation_schema:d collation_name:d domain_catalog:d domain_schema:d domain_name:d udt_catalog:d udt_schema:d udt_name:d scope_catalog:d scope_schema:d scope_name:d maximum_cardinality:4 dtd_identifier:d is_self_referencing:t is_identity:t identity_generation:t identity_start:t identity_increment:t identity_maximum:t identity_minimum:t identity_cycle:t is_generated:t generation_expression:t is_updatable:t";
pub(super) const COLUMN_PRIVILEGES: &str = "grantor:d grantee:d table_catalog:d table_schema:d table_name:d column_name:d privilege_type:t is_grantable:t";
pub(super) const CONSTRAINT_COLUMN_USAGE: &str = "table_catalog:d table_schema:d table_name:d column_name:d constraint_catalog:d constraint_schema:d constraint_name:d";
pub(super) const CONSTRAINT_TABLE_USAGE: &str = "table_catalog:d table_schema:d table_name:d constraint_catalog:d constraint_schema:d constraint_name:d";
pub(super) const DOMAINS: &str = concat!(
    "domain_catalog:d domain_schema:d domain_name:d ",
    said_type!(),
    " domain_default:t udt_catalog:d udt_schema:d udt_name:d ",
    reference!()
);
pub(super) const DOMAIN_CONSTRAINTS: &str = "constraint_catalog:d constraint_schema:d constraint_name:d domain_catalog:d domain_schema:d domain_name:d is_deferrable:t initially_deferred:t";
pub(super) const ELEMENT_TYPES: &str = concat!(
    "object_catalog:d object_schema:d object_name:d object_type:t collection_type_identifier:d ",
    said_type!(),
    " domain_default:t udt_catalog:d udt_schema:d udt_name:d ",
    reference!()
);
pub(super) const ENABLED_ROLES: &str = "role_name:d";
pub(super) const KEY_COLUMN_USAGE: &str = "constraint_catalog:d constraint_schema:d constraint_name:d table_catalog:d table_schema:d table_name:d column_name:d ordinal_position:4 position_in_unique_constraint:4";
pub(super) const PARAMETERS: &str = "specific_catalog:d specific_schema:d specific_name:d ordinal_position:4 parameter_mode:t is_result:t as_locator:t parameter_name:d data_type:t character_maximum_length:4 character_octet_length:4 character_set_catalog:d character_set_schema:d character_set_name:d collation_catalog:d collation_schema:d collation_name:d numeric_precision:4 numeric_precision_radix:4 numeric_scale:4 datetime_precision:4 interval_type:t interval_precision:4 udt_catalog:d udt_schema:d udt_name:d scope_catalog:d scope_schema:d scope_name:d maximum_cardinality:4 dtd_identifier:d parameter_default:t";
pub(super) const REFERENTIAL_CONSTRAINTS: &str = "constraint_catalog:d constraint_schema:d constraint_name:d unique_constraint_catalog:d unique_constraint_schema:d unique_constraint_name:d match_option:t update_rule:t delete_rule:t";
pub(super) const ROLE_TABLE_GRANTS: &str = "grantor:d grantee:d table_catalog:d table_schema:d table_name:d privilege_type:t is_grantable:t with_hierarchy:t";
pub(super) const ROUTINES: &str = "specific_catalog:d specific_schema:d specific_name:d routine_catalog:d routine_schema:d routine_name:d routine_type:t module_catalog:d module_schema:d module_name:d udt_catalog:d udt_schema:d udt_name:d data_type:t character_maximum_length:4 character_octet_length:4 character_set_catalog:d character_set_schema:d character_set_name:d collation_catalog:d collation_schema:d collation_name:d numeric_precision:4 numeric_precision_radix:4 numeric_scale:4 datetime_precision:4 interval_type:t interval_precision:4 type_udt_catalog:d type_udt_schema:d type_udt_name:d scope_catalog:d scope_schema:d scope_name:d maximum_cardinality:4 dtd_identifier:d routine_body:t routine_definition:t external_name:t external_language:t parameter_style:t is_deterministic:t sql_data_access:t is_null_call:t sql_path:t schema_level_routine:t max_dynamic_result_sets:4 is_user_defined_cast:t is_implicitly_invocable:t security_type:t to_sql_specific_catalog:d to_sql_specific_schema:d to_sql_specific_name:d as_locator:t created:m last_altered:m new_savepoint_level:t is_udt_dependent:t result_cast_from_data_type:t result_cast_as_locator:t result_cast_char_max_length:4 result_cast_char_octet_length:4 result_cast_char_set_catalog:d result_cast_char_set_schema:d result_cast_char_set_name:d result_cast_collation_catalog:d result_cast_collation_schema:d result_cast_collation_name:d result_cast_numeric_precision:4 result_cast_numeric_precision_radix:4 result_cast_numeric_scale:4 result_cast_datetime_precision:4 result_cast_interval_type:t result_cast_interval_precision:4 result_cast_type_udt_catalog:d result_cast_type_udt_schema:d result_cast_type_udt_name:d result_cast_scope_catalog:d result_cast_scope_schema:d result_cast_scope_name:d result_cast_maximum_cardinality:4 result_cast_dtd_identifier:d";
pub(super) const SCHEMATA: &str = "catalog_name:d schema_name:d schema_owner:d default_character_set_catalog:d default_character_set_schema:d default_character_set_name:d sql_path:t";
pub(super) const SEQUENCES: &str = "sequence_catalog:d sequence_schema:d sequence_name:d data_type:t numeric_precision:4 numeric_precision_radix:4 numeric_scale:4 start_value:t minimum_value:t maximum_value:t increment:t cycle_option:t";
pub(super) const TABLES: &str = "table_catalog:d table_schema:d table_name:d table_type:t self_referencing_column_name:d reference_generation:t user_defined_type_catalog:d user_defined_type_schema:d user_defined_type_name:d is_insertable_into:t is_typed:t commit_action:t";
pub(super) const TABLE_CONSTRAINTS: &str = "constraint_catalog:d constraint_schema:d constraint_name:d table_catalog:d table_schema:d table_name:d constraint_type:t is_deferrable:t initially_deferred:t enforced:t";
pub(super) const USER_DEFINED_TYPES: &str = concat!(
    "user_defined_type_catalog:d user_defined_type_schema:d user_defined_type_name:d user_defined_type_category:t is_instantiable:t is_final:t ordering_form:t ordering_category:t ordering_routine_catalog:d ordering_routine_schema:d ordering_routine_name:d reference_type:t ",
    said_type!(),
    " source_dtd_identifier:d ref_dtd_identifier:d"
);
pub(super) const VIEWS: &str = "table_catalog:d table_schema:d table_name:d view_definition:t check_option:t is_updatable:t is_insertable_into:t is_trigger_updatable:t is_trigger_deletable:t is_trigger_insertable_into:t";

/// All of them, by the names of the views.
pub(super) const ALL: [(&str, &str); 24] = [
    ("applicable_roles", APPLICABLE_ROLES),
    ("attributes", ATTRIBUTES),
    ("check_constraints", CHECK_CONSTRAINTS),
    ("column_privileges", COLUMN_PRIVILEGES),
    ("columns", COLUMNS),
    ("constraint_column_usage", CONSTRAINT_COLUMN_USAGE),
    ("constraint_table_usage", CONSTRAINT_TABLE_USAGE),
    ("domain_constraints", DOMAIN_CONSTRAINTS),
    ("domains", DOMAINS),
    ("element_types", ELEMENT_TYPES),
    ("enabled_roles", ENABLED_ROLES),
    ("key_column_usage", KEY_COLUMN_USAGE),
    ("parameters", PARAMETERS),
    ("referential_constraints", REFERENTIAL_CONSTRAINTS),
    ("role_column_grants", COLUMN_PRIVILEGES),
    ("role_table_grants", ROLE_TABLE_GRANTS),
    ("routines", ROUTINES),
    ("schemata", SCHEMATA),
    ("sequences", SEQUENCES),
    ("table_constraints", TABLE_CONSTRAINTS),
    ("table_privileges", ROLE_TABLE_GRANTS),
    ("tables", TABLES),
    ("user_defined_types", USER_DEFINED_TYPES),
    ("views", VIEWS),
];
