import pg from 'pg';

/** Data that this database refuses: the same statement will fail again. */
export function isRefusedData(error: unknown): boolean {
  return sqlState(error).startsWith('22') || sqlState(error).startsWith('23');
}

/**
 * Data beyond what the database can hold at all (54), or a value that it does not take (22), or that a constraint forbids
 * (23). Not a missing partition, nor a constraint on what we count ourselves: those are no record's fault.
 */
export function isPoisonous(error: unknown): boolean {
  const state = sqlState(error);
  if (state.startsWith('22') || state.startsWith('54')) return true;
  return state.startsWith('23') && !isOurFault(error);
}

/** A check that has no name: a row for which there is no partition. */
const NO_PARTITION = '23514';
const COUNTED_BY_US = /waiting|members|applied|records|count/;

function isOurFault(error: unknown): boolean {
  const { constraint = '', code } = error as pg.DatabaseError;
  return constraint === '' ? code === NO_PARTITION : COUNTED_BY_US.test(constraint);
}

/** Two transactions in each other's way: the same statement may pass the next time. */
export function isCollision(error: unknown): boolean {
  // A statement that was sent by name behind one that failed before it was known (26000) passes the next time too.
  return sqlState(error).startsWith('40') || sqlState(error) === '26000';
}

/** It came to a standby, where a name or a proxy still leads while another takes over: this connection will never write. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === '25006';
}

/** It was canceled: by its timeout, or because whoever asked is gone. */
export function isCanceled(error: unknown): boolean {
  return sqlState(error) === '57014';
}

/** All connections of a pool were in use for as long as a caller may wait, or the database accepted no new one in that time. */
export class NoConnection extends Error {
  constructor(cause: unknown) {
    super('No connection to the database became free in time', { cause });
    this.name = 'NoConnection';
  }
}

/** pg-pool throws plain errors, so their text is all there is to tell them apart. */
export function isPoolTimeout(error: unknown): boolean {
  const text = error instanceof Error ? error.message : '';
  return (
    text === 'timeout exceeded when trying to connect' ||
    text === 'Connection terminated due to connection timeout'
  );
}

/** The SQLSTATE, or an empty text where no database answered at all. */
function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}
