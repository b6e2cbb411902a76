export type { ImportDeps, OpenStripe, StripeAsked } from './deps.ts';
export { forgetImports, type ForgetImportsOptions } from './forget-imports.ts';
export {
  askCheck,
  cancelImport,
  createImport,
  type FileWanted,
  foundImport,
  giveKey,
  mapImport,
  pauseImport,
  putPart,
  resumeImport,
  sampleImport,
  startImport,
  type StripeWanted,
} from './manage.ts';
export { REJECTED } from './read-chunk.ts';
export { showImport, showImports } from './show-import.ts';
export { stripeSources } from './stripe/index.ts';
export { claimImport, workOn } from './work-on.ts';
