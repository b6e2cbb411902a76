export { exportSuppressions, type ExportFormat } from './export-suppressions.ts';
export {
  type ImportedList,
  importSuppressions,
  type ImportOptions,
  type LineTrouble,
} from './import-suppressions.ts';
export { findLastImport, IMPORT_ACTION } from './last-import.ts';
