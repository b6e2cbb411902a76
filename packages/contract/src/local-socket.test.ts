import { describe, expect, test } from 'vitest';
import { localSocket } from './local-socket.ts';

describe('localSocket', () => {
  test('names a socket in the data directory', () => {
    expect(localSocket('/var/lib/beckon', 'linux')).toBe('/var/lib/beckon/beckon.sock');
    expect(localSocket('/var/lib/beckon/', 'darwin')).toBe('/var/lib/beckon/beckon.sock');
  });

  test('counts bytes against the limit of the platform', () => {
    const of = (bytes: number): string => `/${'d'.repeat(bytes - '//beckon.sock'.length)}`;
    expect(localSocket(of(107), 'linux')).toHaveLength(107);
    expect(localSocket(of(108), 'linux')).toBeNull();
    expect(localSocket(of(103), 'darwin')).toHaveLength(103);
    expect(localSocket(of(104), 'darwin')).toBeNull();
    expect(localSocket(`/${'é'.repeat(50)}`, 'linux')).toBeNull();
  });

  test('names a pipe on Windows, one for each directory whatever its case', () => {
    const pipe = localSocket(String.raw`C:\Beckon\data`, 'win32');
    expect(pipe).toBe(String.raw`\\.\pipe\beckon-c%3A%5Cbeckon%5Cdata`);
    expect(localSocket(String.raw`c:\beckon\Data`, 'win32')).toBe(pipe);
    expect(localSocket(String.raw`c:\beckon-data`, 'win32')).not.toBe(pipe);
    expect(localSocket(`C:\\${'d'.repeat(250)}`, 'win32')).toBeNull();
  });
});
