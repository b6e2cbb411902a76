import type { ReplySourceKindInfo, ReplySourceSetup } from '@beckon/contract/dashboard';
import { Group, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/index.ts';
import { ErrorBox, notify } from '../../parts/index.ts';
import { ConnectionFields } from '../../parts/connection-fields.tsx';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Section } from '../../parts/section.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';

const HINTS: Record<string, string> = {
  imap: 'Beckon reads the mailbox every minute, and changes nothing in it',
  postmark: 'Postmark receives the emails and posts them',
  http: 'Any service or script that posts emails, such as an email worker',
  forwarding: 'Your mailbox forwards emails to MAIL_DOMAIN',
};

/** Sets up the reply source, or changes it. */
export function SourceForm({ setup: { source, kinds } }: { setup: ReplySourceSetup }): ReactNode {
  const stored = source ?? NONE;
  const [kind, setKind] = useState(stored.kind);
  const [values, setValues] = useState<Record<string, string>>(stored.settings);
  const words = source ? CHANGE : ADD;
  const save = useChange('PUT /projects/:project/reply-source', {
    refreshes: ['GET /projects/:project/reply-source', 'GET /projects/:project/sending'],
    onDone: () => notify(words.done),
  });
  const fields = kinds.find((candidate) => candidate.kind === kind)?.fields ?? [];
  const errors = save.error?.fields ?? {};
  const isAtField = fields.some(({ name }) => errors[name] !== undefined);
  return (
    <Section title={words.title} text="Credentials are encrypted, and never shown again.">
      <Form
        autoComplete="off"
        onSubmit={() => save.mutate({ body: { kind, settings: filledIn(fields, values) } })}
      >
        <KindChoice kinds={kinds} value={kind} onChange={setKind} />
        <ConnectionFields
          fields={fields}
          values={values}
          onChange={setValues}
          errors={errors}
          keepsSecrets={source?.kind === kind}
        />
        {save.error && !isAtField && <ErrorBox error={save.error} />}
        <Group justify="flex-end">
          <SubmitButton change={save}>{words.submit}</SubmitButton>
        </Group>
      </Form>
    </Section>
  );
}

const NONE = { kind: 'imap', settings: {} };
const ADD = { title: 'Add reply source', submit: 'Add reply source', done: 'Reply source added' };
const CHANGE = { title: 'Settings', submit: 'Save changes', done: 'Saved' };

type ChoiceProps = { kinds: ReplySourceKindInfo[]; value: string; onChange: (kind: string) => void };

function KindChoice({ kinds, value, onChange }: ChoiceProps): ReactNode {
  return (
    <Radio.Group label="How do replies reach Beckon?" value={value} onChange={onChange}>
      <SimpleGrid cols={{ base: 1, xs: 2, md: kinds.length === 3 ? 3 : 2 }} mt="xs" spacing="sm">
        {kinds.map((candidate) => (
          <KindCard key={candidate.kind} info={candidate} />
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}

function KindCard({ info: { kind, title } }: { info: ReplySourceKindInfo }): ReactNode {
  return (
    <Radio.Card value={kind} p="sm" radius="md" aria-label={title}>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator mt={2} />
        <Stack gap={2} style={{ minWidth: 0 }}>
          <Text size="sm" fw={600}>
            {title}
          </Text>
          <Muted size="xs">{HINTS[kind] ?? ''}</Muted>
        </Stack>
      </Group>
    </Radio.Card>
  );
}

/** Returns the values of the fields of a kind. A secret that is empty stays as it is. */
function filledIn(
  fields: ReplySourceKindInfo['fields'],
  values: Record<string, string>,
): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap(({ name }): [string, string][] => {
      const value = values[name] ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );
}
