import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

const HEIGHTS = [128, 190, 118, 118, 210];

export function PolicySkeleton(): ReactNode {
  return (
    <Stack gap="lg" maw={860}>
      {HEIGHTS.map((height, n) => (
        <Skeleton key={n} height={height} />
      ))}
    </Stack>
  );
}
