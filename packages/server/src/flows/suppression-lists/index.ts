export { exportSuppressions, type ExportFormat } from './export-suppressions.ts';
export { importSuppressions } from './import-suppressions.ts';
export { findLastImport, IMPORT_ACTION } from './last-import.ts';
