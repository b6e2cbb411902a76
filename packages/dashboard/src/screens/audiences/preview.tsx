import { Alert, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { DefinitionPreview } from '@beckon/contract/dashboard';
import { ErrorBox, formatCount, Lines, Person, Sentence, When } from '../../parts/index.ts';
import type { Previewed } from './use-preview.ts';
import { Muted } from '../../parts/muted.tsx';

type Props = { preview: Previewed; isNew: boolean };

/** The members now. Errors of the definition are shown at their fields above. */
export function Preview({ preview: { data, error, isLoading }, isNew }: Props): ReactNode {
  const isFaulty = error !== null && error.status === 422 && error.field?.startsWith('definition.') === true;
  return (
    <Paper withBorder p="md" component="section" aria-label="Preview" aria-busy={isLoading}>
      {error && !isFaulty && <ErrorBox error={error} title="The audience could not be counted" />}
      {isFaulty && (
        <Text size="sm" c="var(--mantine-color-error)">
          The definition is incomplete. See the errors above.
        </Text>
      )}
      {!error && !data && <Lines count={3} />}
      {!error && data && <Counted data={data} isNew={isNew} />}
    </Paper>
  );
}

function Counted({ data, isNew }: { data: DefinitionPreview; isNew: boolean }): ReactNode {
  const { count, sentence, sample, today, edit, uncounted_events: uncounted } = data;
  return (
    <Stack gap="xs">
      <Text>
        <Sentence text={sentence} />
      </Text>
      <Text fw={600} aria-live="polite">
        {formatCount(count)} {count === 1 ? 'user' : 'users'} now
      </Text>
      {edit && !isNew && (
        <Text size="sm">
          Saving adds {formatCount(edit.joins)} and removes {formatCount(edit.leaves)}. Neither starts a rule.
        </Text>
      )}
      <Muted>
        Without new data, {formatCount(today.enters)} join and {formatCount(today.leaves)} leave until{' '}
        <When at={today.ends_at} />.
      </Muted>
      {uncounted.length > 0 && (
        <Alert color="yellow" variant="light" p="xs">
          All-time counts of {uncounted.join(', ')} start when an audience first uses them. Until then, they
          count as zero.
        </Alert>
      )}
      {sample.length > 0 && (
        <Text size="sm" component="div">
          {sample.map(({ external_user_id: id }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <Person id={id} />
            </span>
          ))}
          {count > sample.length && ` and ${formatCount(count - sample.length)} more`}
        </Text>
      )}
    </Stack>
  );
}
