import { Group, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { PasskeyListed } from '@beckon/contract/dashboard';
import { useApi, useChange, useRefresh } from '../../api/index.ts';
import { ConfirmTyped, Loaded, notify, When } from '../../parts/index.ts';
import { SmallTable } from '../../parts/small-table.tsx';
import { useNewPasskey } from './passkey.ts';
import { PasskeyError, RequiredInput } from './sign-in-fields.tsx';
import { browserName } from './words.ts';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';

export function Passkeys(): ReactNode {
  const passkeys = useApi('GET /passkeys', {});
  return (
    <Stack gap="md">
      <Loaded query={passkeys}>
        {({ data }) =>
          data.length === 0 ? <Muted>No passkeys yet.</Muted> : <PasskeyTable passkeys={data} />
        }
      </Loaded>
      <AddPasskey />
    </Stack>
  );
}

function PasskeyTable({ passkeys }: { passkeys: PasskeyListed[] }): ReactNode {
  const [going, setGoing] = useState<PasskeyListed | null>(null);
  const remove = useChange('POST /passkeys/:passkey/delete', {
    refreshes: ['GET /passkeys'],
    onDone: () => setGoing(null),
  });
  return (
    <>
      <SmallTable
        aria-label="Passkeys"
        heads={['Name', 'Added', { title: 'Actions', ta: 'right' }]}
        rows={passkeys.map((passkey) => ({
          key: passkey.id,
          cells: [
            passkey.name,
            <When at={passkey.created_at} />,
            <ActButton size="compact-sm" onClick={() => setGoing(passkey)}>
              Remove <span className="beckon-visually-hidden">{passkey.name}</span>
            </ActButton>,
          ],
        }))}
      />
      <ConfirmTyped
        opened={going !== null}
        onClose={() => setGoing(null)}
        title="Remove passkey"
        name={going?.name ?? ''}
        action="Remove"
        run={() => going && remove.mutate({ params: { passkey: going.id } })}
        change={remove}
      >
        This passkey no longer signs you in. Your other ways to sign in do not change.
      </ConfirmTyped>
    </>
  );
}

function AddPasskey(): ReactNode {
  const [name, setName] = useState(browserName(navigator.userAgent));
  const refresh = useRefresh();
  const passkey = useNewPasskey(() => {
    notify('Passkey added');
    void refresh('GET /passkeys');
  });
  const submit = (): void => passkey.add(name);
  if (!passkey.isPossible) return <Muted>This browser does not support passkeys.</Muted>;
  return (
    <Form onSubmit={submit} gap="xs">
      <Group gap="xs" align="end">
        <RequiredInput label="Name of the new passkey" value={name} onType={setName} />
        <SubmitButton change={passkey} variant="default">
          Add passkey
        </SubmitButton>
      </Group>
      <PasskeyError message={passkey.problem} />
    </Form>
  );
}
