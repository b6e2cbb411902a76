import { forgetImports as forget, type ForgetImportsOptions } from './clear-imports.ts';
import type { Job } from '../../../platform/jobs/scheduler.ts';

const EVERY_MS = 600_000;

/** Deletes files of imports that have ended or were abandoned. */
export function forgetImports(options: ForgetImportsOptions): Job {
  return { name: 'delete_import_files', everyMs: EVERY_MS, run: (stopping) => forget(options, stopping) };
}
