import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { useState } from 'react';
import { ApiError, useCall } from '../../api/index.ts';

type Passkey = {
  /** The browser supports passkeys. */
  isPossible: boolean;
  isPending: boolean;
  problem: string | null;
};
export type PasskeyUse = Passkey & { start: () => void };

/** Signs in: gets options from the server, has the authenticator sign them, and sends the result back. */
export function usePasskeySignIn(onDone: () => void): PasskeyUse {
  return useAssertion('POST /sign-in/passkey-options', 'POST /sign-in/passkey', onDone);
}

/** Confirms the identity of a signed-in member, with one of their passkeys. */
export function usePasskeyConfirmation(onDone: () => void): PasskeyUse {
  return useAssertion('POST /confirm/passkey-options', 'POST /confirm/passkey', onDone);
}

function useAssertion(
  optionsKey: 'POST /sign-in/passkey-options' | 'POST /confirm/passkey-options',
  verifyKey: 'POST /sign-in/passkey' | 'POST /confirm/passkey',
  onDone: () => void,
): PasskeyUse {
  const call = useCall();
  const { run, ...state } = usePasskeyRun();
  const start = (): void =>
    run(async () => {
      const { data } = await call(optionsKey, {});
      const optionsJSON = data as unknown as PublicKeyCredentialRequestOptionsJSON;
      const response = await startAuthentication({ optionsJSON });
      await call(verifyKey, { body: { response: { ...response } } });
      onDone();
    });
  return { ...state, start };
}

export function useNewPasskey(onDone: () => void): Passkey & { add: (name: string) => void } {
  const call = useCall();
  const { run, ...state } = usePasskeyRun();
  const add = (name: string): void =>
    run(async () => {
      const { data } = await call('POST /passkeys/options', {});
      const optionsJSON = data as unknown as PublicKeyCredentialCreationOptionsJSON;
      const response = await startRegistration({ optionsJSON });
      await call('POST /passkeys', { body: { response: { ...response }, name } });
      onDone();
    });
  return { ...state, add };
}

function usePasskeyRun(): Passkey & { run: (work: () => Promise<void>) => void } {
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const run = (work: () => Promise<void>): void => {
    setPending(true);
    setProblem(null);
    work()
      .catch((error: unknown) => setProblem(wordsOf(error)))
      .finally(() => setPending(false));
  };
  return { isPossible: browserSupportsWebAuthn(), isPending, problem, run };
}

function wordsOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidStateError') return 'This device already has a passkey for this account.';
  return name === 'NotAllowedError'
    ? 'The passkey was not used. The prompt was closed or timed out.'
    : 'The passkey could not be used in this browser.';
}
