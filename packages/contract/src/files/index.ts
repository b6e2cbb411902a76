export {
  columnName,
  FREE_FORM,
  REPORT_PREFIX,
  sayTarget,
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
export { readMoment, type CellType } from './values.ts';
