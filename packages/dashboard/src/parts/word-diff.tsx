import { Skeleton } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { lazyPart } from './load-part.ts';

export type WordDiffProps = { before: string; after: string; label?: string };

const Inner = lazyPart(() => import('./word-diff-inner.tsx'), 'default');

/** A diff of two texts: removed words are struck through, added words underlined, and screen readers hear both. */
export function WordDiff(props: WordDiffProps): ReactNode {
  return (
    <Suspense fallback={<Skeleton height={96} />}>
      <Inner {...props} />
    </Suspense>
  );
}
