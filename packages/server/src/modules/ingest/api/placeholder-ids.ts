/** Ids of no real user, most often an unset variable. They are accepted, as the interface says, and counted. */
const PLACEHOLDERS = new Set([
  'null',
  'undefined',
  'nil',
  'none',
  'nan',
  'NaN',
  'None',
  'NULL',
  '0',
  '-1',
  'true',
  'false',
  'anonymous',
  'guest',
  'unknown',
  '[object Object]',
  '{}',
  '[]',
  '00000000-0000-0000-0000-000000000000',
]);

export function countPlaceholders(userIds: string[]): number {
  let count = 0;
  for (const id of userIds) if (PLACEHOLDERS.has(id)) count += 1;
  return count;
}
