export type BackupFailureCode =
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
