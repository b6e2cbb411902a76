import { createSuppressionHasher } from '../src/modules/sending/suppressions/hasher.ts';

/** The suppression hasher of tests that start no process, with a fixed key. */
export const testHasher = createSuppressionHasher(Buffer.alloc(32, 5));
