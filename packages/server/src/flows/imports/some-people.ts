import { hash } from 'node:crypto';
import type { PeopleCounted } from '@beckon/contract/dashboard';

/** Beyond this it says that there are more, so that a file of any length is counted in the same memory. */
const COUNTED_MAX = 200_000;

/** How many different people something is about, by 52 bits of a hash of their ids. */
export class SomePeople {
  private readonly seen = new Set<number>();
  private hasMore = false;

  /** False: they were counted before, or nobody is counted any more. */
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
