#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bench/client.h"
#include "bench/client/answers.h"
#include "bench/client/certificate.h"
#include "bench/client/raw_server.h"

// The client over TLS against OpenSSL's server side as Asio drives it.

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

class ClientTls : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(std::string_view text) {
    const std::filesystem::path path = folder_ / "ca.pem";
    std::ofstream(path) << text;
    return path.string();
  }

  // Answers every request with `answer_`.
  RawServer::Script secured(boost::asio::ssl::context& context) {
    return [this, &context](RawConnection& connection, size_t) {
      if (!connection.secure(context)) return;
      server_name_ = connection.server_name();
      while (!connection.read_request().empty()) connection.send(answer_);
    };
  }

  static Target target(const std::string& host, const RawServer& server) {
    return target_at(fmt::format("https://{}:{}", host, server.port()));
  }

  std::filesystem::path folder_;
  std::string answer_ = chunked_stream(kGoodEvents);
  std::string server_name_;
};

TEST_F(ClientTls, ACertificateThatIsTrustedForTheNameIsTaken) {
  const Certificate certificate = make_certificate("DNS:localhost");
  boost::asio::ssl::context context = server_context(certificate);
  RawServer server(secured(context));
  Target trusting = target("localhost", server);
  trusting.ca_file = write(certificate.certificate_pem);
  {
    const auto client = client_for(trusting);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client->ask(chat()).error, "");
    EXPECT_EQ(server.num_connections(), 1U);
  }
  server.stop();
  EXPECT_EQ(server_name_, "localhost");
}

TEST_F(ClientTls, AnAnswerOfManyRecordsIsReadWhole) {
  const Certificate certificate = make_certificate("IP:127.0.0.1");
  boost::asio::ssl::context context = server_context(certificate);
  std::string events;
  for (int i = 0; i < 5000; ++i) events += content_event("word ");
  answer_ = chunked_stream(events + kGoodEvents);
  RawServer server(secured(context));
  Target trusting = target("127.0.0.1", server);
  trusting.ca_file = write(certificate.certificate_pem);
  RequestPlan plan = chat();
  plan.messages[0].content = std::string(1 << 20, 'x');
  EXPECT_EQ(client_for(trusting)->ask(plan).events.size(), 5001U);
}

TEST_F(ClientTls, ACertificateThatNobodyVouchesForIsRefusedUnlessToldOtherwise) {
  boost::asio::ssl::context context = server_context(make_certificate("DNS:localhost"));
  RawServer server(secured(context));
  Target strict = target("localhost", server);
  strict.ca_file = write(make_certificate("DNS:localhost").certificate_pem);  // another one
  const RequestRecord record = client_for(strict)->ask(chat());
  EXPECT_EQ(record.fault, Fault::server_down);
  EXPECT_TRUE(record.error.starts_with(
      "nobody this machine trusts vouches for the certificate of 'localhost' ("))
      << record.error;
  EXPECT_TRUE(
      record.error.ends_with("): give its certificate with --ca-file, or --insecure to "
                             "measure without the check"))
      << record.error;
  strict.ca_file = "";  // the system's store has none of it either
  EXPECT_EQ(client_for(strict)->ask(chat()).fault, Fault::server_down);

  Target careless = target("localhost", server);
  careless.verify_certificate = false;
  EXPECT_EQ(client_for(careless)->ask(chat()).error, "");
}

TEST_F(ClientTls, ACertificateOfAnotherNameIsRefused) {
  const Certificate certificate = make_certificate("DNS:example.org,IP:127.0.0.2");
  boost::asio::ssl::context context = server_context(certificate);
  RawServer server(secured(context));
  for (const std::string host : {"localhost", "127.0.0.1"}) {
    Target strict = target(host, server);
    strict.ca_file = write(certificate.certificate_pem);
    const RequestRecord record = client_for(strict)->ask(chat());
    EXPECT_EQ(record.fault, Fault::server_down);
    EXPECT_TRUE(record.error.starts_with("the certificate is not one of '" + host + "' ("))
        << record.error;
  }
}

TEST_F(ClientTls, AServerWithoutTlsIsNamed) {
  RawServer server([](RawConnection& connection, size_t) {
    connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    connection.wait_for_end();
  });
  const RequestRecord record = client_for(target("127.0.0.1", server))->ask(chat());
  EXPECT_EQ(record.fault, Fault::server_down);
  EXPECT_EQ(record.error,
            "what answers there does not speak TLS: is it http:// rather than "
            "https://?");
}

TEST_F(ClientTls, AHandshakeHasALimitInTime) {
  RawServer server([](RawConnection& connection, size_t) { connection.wait_for_end(); });
  Target impatient = target("127.0.0.1", server);
  impatient.connect_timeout = 30ms;
  const RequestRecord record = client_for(impatient)->ask(chat());
  EXPECT_EQ(record.fault, Fault::server_down);
  EXPECT_EQ(record.error, fmt::format("127.0.0.1:{} takes connections and does not finish a TLS "
                                      "handshake within 30 ms",
                                      server.port()));
}

TEST_F(ClientTls, AConnectionThatEndsInsideTheHandshakeIsNoAnswer) {
  RawServer server([](RawConnection&, size_t) {});
  const RequestRecord record = client_for(target("127.0.0.1", server))->ask(chat());
  EXPECT_EQ(record.fault, Fault::server_down);
  EXPECT_TRUE(record.error.ends_with(" inside the TLS handshake")) << record.error;
}

TEST_F(ClientTls, AFileToTrustMustHoldCertificates) {
  Target target = target_at("https://localhost");
  target.ca_file = (folder_ / "none.pem").string();
  auto client = Client::create(target, Clock::now());
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::not_found);
  target.ca_file = write("no certificate\n");
  client = Client::create(target, Clock::now());
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::corrupt);
  EXPECT_TRUE(to_string(client.error()).ends_with("\n  --ca-file takes a PEM file"));
}

}  // namespace
}  // namespace evener::bench
