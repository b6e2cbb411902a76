import { createSuppressionHasher } from '../src/features/suppressions/index.ts';

/** The key of every installation in tests that start no process. */
export const testHasher = createSuppressionHasher(Buffer.alloc(32, 5));
