export {
  columnName,
  FREE_FORM,
  REPORT_PREFIX,
  formatTarget,
  targetOf,
  targetsOf,
  type FieldName,
  type FileKind,
  type Target,
} from './columns.ts';
export {
  recordOf,
  recordOfCells,
  type FileColumn,
  type FileRecord,
  type MadeRecord,
  type RecordRules,
  type RowFault,
} from './record.ts';
export { cellsOf, csvLine, delimiterOf } from './csv.ts';
export { readRows, ROW_MAX_BYTES, type FilePosition, type FileRow } from './rows.ts';
export { readMoment, type CellType } from './values.ts';
