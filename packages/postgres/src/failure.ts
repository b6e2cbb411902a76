type EmbeddedFailureCode =
  | 'another_server'
  | 'cannot_start'
  | 'cannot_upgrade'
  | 'closed_folder'
  | 'data_missing'
  | 'no_account'
  | 'no_binaries'
  | 'not_known'
  | 'other_major';

/** An error that the operator must see. Its message names the folder and the next step, so it needs no stack. */
export class EmbeddedFailure extends Error {
  readonly code: EmbeddedFailureCode;

  constructor(code: EmbeddedFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'EmbeddedFailure';
    this.code = code;
  }
}

/** Returns the code of a failed system call (`ENOENT`) or of PostgreSQL (`28P01`); empty without a code. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

type BackupFailureCode =
  | 'broken'
  | 'external'
  | 'no_passphrase'
  | 'not_empty'
  | 'not_found'
  | 'other_key'
  | 'other_postgres'
  | 'tablespaces'
  | 'timeline'
  | 'until'
  | 'unwritable'
  | 'wrong_passphrase';

/** An error that the operator must see. It names the folder and the next step. */
export class BackupFailure extends Error {
  readonly code: BackupFailureCode;

  constructor(code: BackupFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'BackupFailure';
    this.code = code;
  }
}
