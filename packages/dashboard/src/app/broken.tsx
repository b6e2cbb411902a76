import { Button, Group } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ErrorBox, Page } from '../parts/index.ts';

/** The error page of one screen. The other screens keep working. */
export function Broken({ error, reset }: ErrorComponentProps): ReactNode {
  return (
    <Page title="Something went wrong">
      <ErrorBox
        error={{ message: error instanceof Error ? error.message : String(error) }}
        title="This page could not be displayed"
        retry={reset}
      />
      <Group>
        <Button variant="default" onClick={() => location.reload()}>
          Reload page
        </Button>
      </Group>
    </Page>
  );
}
