import pg from 'pg';

/** Data that this database rejects: the same statement will fail again. */
export function isRefusedData(error: unknown): boolean {
  return sqlState(error).startsWith('22') || sqlState(error).startsWith('23');
}

/**
 * Returns whether the data itself is at fault: beyond the limits of the database (54), an unacceptable value (22), or a violated constraint
 * (23). A missing partition, or a constraint on counts of our own, is not the record's fault.
 */
export function isPoisonous(error: unknown): boolean {
  const state = sqlState(error);
  if (state.startsWith('22') || state.startsWith('54')) return true;
  return state.startsWith('23') && !isOurFault(error);
}

/** A check violation without a constraint name: a row without a partition. */
const NO_PARTITION = '23514';
const COUNTED_BY_US = /waiting|members|applied|records|count/;

function isOurFault(error: unknown): boolean {
  const { constraint = '', code } = error as pg.DatabaseError;
  return constraint === '' ? code === NO_PARTITION : COUNTED_BY_US.test(constraint);
}

/** Two transactions conflicted: a retry of the same statement may succeed. */
export function isCollision(error: unknown): boolean {
  // A named statement sent behind one that failed before it was prepared (26000) succeeds on retry too.
  return sqlState(error).startsWith('40') || sqlState(error) === '26000';
}

/** The server is a standby, which a name or a proxy still reaches during a failover: this connection will never accept writes. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === '25006';
}

/** The statement was canceled: by its timeout, or because its request ended. */
export function isCanceled(error: unknown): boolean {
  return sqlState(error) === '57014';
}

/** Returns true if a lock did not become free within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

/** For the time that a caller may wait, all connections of a pool were in use, or the database accepted no new one. */
export class NoConnection extends Error {
  constructor(cause: unknown) {
    super('No connection to the database became free in time', { cause });
    this.name = 'NoConnection';
  }
}

/** pg-pool throws plain errors, so only the text distinguishes them. */
export function isPoolTimeout(error: unknown): boolean {
  const text = error instanceof Error ? error.message : '';
  return (
    text === 'timeout exceeded when trying to connect' ||
    text === 'Connection terminated due to connection timeout'
  );
}

/** Returns the SQLSTATE, or an empty text if no database responded. */
function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}
