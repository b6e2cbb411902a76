import { Skeleton } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';

export type WordDiffProps = { before: string; after: string; label?: string };

const Inner = lazy(() => import('./word-diff-inner.tsx'));

/** Two texts as one, with what went and what came; said by lines through and under the words, and to those who hear it. */
export function WordDiff(props: WordDiffProps): ReactNode {
  return (
    <Suspense fallback={<Skeleton height={96} />}>
      <Inner {...props} />
    </Suspense>
  );
}
