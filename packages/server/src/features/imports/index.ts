export { blankParts } from './blank-parts.ts';
export { deleteFindingsOf, personHash } from './erase.ts';
export { sampleFile } from './file-sample.ts';
export { createFileSource, openFormat, problemsOfFile } from './file-source.ts';
export { type ImportFile } from './file-format.ts';
export {
  type Counts,
  FILE_MAX_BYTES,
  FINDINGS_MAX,
  type Import,
  NAME_MAX_CHARS,
  NOTHING_COUNTED,
  OPEN_IMPORTS_MAX,
  PART_BYTES,
  partsOf,
  RAW_MAX_CHARS,
} from './import.ts';
export { moveImport, type MoveOptions, noSuchImport } from './move-import.ts';
export { keepPart, partLoader } from './parts.ts';
export { keyBoundTo, resealImportKeys } from './reseal-keys.ts';
export {
  countFindingRows,
  countImportRows,
  findErasedHashes,
  findFirstAtWork,
  findImport,
  findKey,
  isSuspended,
  listFindingRows,
  listIdle,
  listImportRows,
  listOpenImports,
  listPartNumbers,
  listUncleared,
} from './reads.ts';
export {
  type ImportChunk,
  ImportHalt,
  type ImportNote,
  type ImportSource,
  type Place,
  type RejectedRow,
} from './source.ts';
export {
  type Claim,
  claimRow,
  deleteFindings,
  deleteOldFindings,
  deleteParts,
  type Finding,
  type ImportRef,
  insertErased,
  insertFindings,
  insertImport,
  lockImport,
  updateKey,
  updateLease,
  updateProgress,
} from './store.ts';
