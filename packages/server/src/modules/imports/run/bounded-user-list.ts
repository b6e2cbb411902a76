import { hash } from 'node:crypto';
import type { PeopleCounted } from '@beckon/contract/dashboard';

/** Beyond this number the count is reported as a minimum, so that memory stays bounded for a file of any length. */
const COUNTED_MAX = 200_000;

/** Counts distinct users, by 52 bits of a hash of their ids. */
export class SomePeople {
  private readonly seen = new Set<number>();
  private hasMore = false;

  /** Returns false if the user was counted before or the maximum is reached. */
  add(userId: string): boolean {
    const key = Number.parseInt(hash('sha1', userId, 'hex').slice(0, 13), 16);
    if (this.seen.has(key)) return false;
    if (this.seen.size >= COUNTED_MAX) {
      this.hasMore = true;
      return false;
    }
    this.seen.add(key);
    return true;
  }

  counted(): PeopleCounted {
    return { count: this.seen.size, ...(this.hasMore && { at_least: true }) };
  }
}
