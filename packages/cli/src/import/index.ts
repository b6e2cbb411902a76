export { runImport } from './run.ts';
