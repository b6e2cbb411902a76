import pg from 'pg';

/** Data that this database refuses: the same statement will fail again. */
export function isRefusedData(error: unknown): boolean {
  return sqlState(error).startsWith('22') || sqlState(error).startsWith('23');
}

/** Two transactions in each other's way: the same statement may pass the next time. */
export function isCollision(error: unknown): boolean {
  // A statement that was sent by name behind one that failed before it was known (26000) passes the next time too.
  return sqlState(error).startsWith('40') || sqlState(error) === '26000';
}

/** The SQLSTATE, or an empty text where no database answered at all. */
function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}
