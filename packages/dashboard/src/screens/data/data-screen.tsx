import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMay } from '../../api/index.ts';
import { Page } from '../../parts/index.ts';
import { Erasures } from './erasures.tsx';
import { Exports } from './exports.tsx';
import { Retention } from './retention.tsx';

export function DataScreen(): ReactNode {
  const may = useMay('admin');
  return (
    <Page title="Data">
      <Stack gap={40}>
        <Retention />
        {may && <Exports />}
        {may && <Erasures />}
      </Stack>
    </Page>
  );
}
