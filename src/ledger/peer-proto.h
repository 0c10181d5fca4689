/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * custody-peer: sends records to another host over TLS.  Its socket, SOCK_SEQPACKET, is a descriptor of this number.
 *
 *	-> {"url":...,"ca":...,"content_type":...}	once; without content_type a connection of its own for a stream of bytes
 *	-> 'D' and bytes				one frame
 *	-> 'C'						have all frames arrived?
 *	<- '+', or '-' and a sentence			to the first message, and to each 'C'
 *
 * It exits when the other end is closed.
 */
#define PEER_PROGRAM "custody-peer"
#define PEER_SOCKET_FD 3
#define PEER_MESSAGE_MAX (384 * 1024)
#define PEER_DATA 'D'
#define PEER_CONFIRM 'C'
#define PEER_ARRIVED '+'
#define PEER_FAILED '-'
