import { Button, Group } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ErrorBox, Page } from '../parts/index.ts';

/** A page that broke, in its own frame: all others still stand. */
export function Broken({ error, reset }: ErrorComponentProps): ReactNode {
  return (
    <Page title="This page broke">
      <ErrorBox
        error={{ message: error instanceof Error ? error.message : String(error) }}
        title="It could not be shown"
        retry={reset}
      />
      <Group>
        <Button variant="default" onClick={() => location.reload()}>
          Load it anew
        </Button>
      </Group>
    </Page>
  );
}
