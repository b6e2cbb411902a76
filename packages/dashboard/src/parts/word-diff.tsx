import { Skeleton } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';

export type WordDiffProps = { before: string; after: string; label?: string };

const Inner = lazy(() => import('./word-diff-inner.tsx'));

/** A diff of two texts: removed words are struck through, added words underlined, and screen readers hear both. */
export function WordDiff(props: WordDiffProps): ReactNode {
  return (
    <Suspense fallback={<Skeleton height={96} />}>
      <Inner {...props} />
    </Suspense>
  );
}
