import { sha256 } from '../../base/hash.ts';
import type { ImportRef } from './store.ts';

/** A person's id in an import that has not ended, so that nobody reads the id itself. */
export function personHash({ id }: Pick<ImportRef, 'id'>, userId: string): string {
  return sha256(`${id} ${userId}`);
}
